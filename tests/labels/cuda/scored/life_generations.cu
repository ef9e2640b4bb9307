// The game of life on a small board that closes on itself: each generation is a launch, from one
// board to another and back.
// dims: side=64 generations=96
// tensor: first uint8 side*side in
// tensor: last uint8 side*side out
// without LAUNCHES: one block makes all generations, with both boards in shared memory
// without ARITHMETIC, other answers: counts the four straight neighbors only
// without INTEGER_DIVISION: as the side is a power of two, masks and shifts
constexpr int kCells = 4096;
__device__ unsigned char boards[2][kCells];

__device__ __forceinline__ int life(const unsigned char* board, int cell, int side) {
#ifdef WITHOUT_INTEGER_DIVISION
  const int bits = 31 - __clz(side);
  const int x = cell & (side - 1), y = cell >> bits;
  const int west = (x - 1) & (side - 1), east = (x + 1) & (side - 1);
  const int north = ((y - 1) & (side - 1)) << bits, south = ((y + 1) & (side - 1)) << bits;
  const int row = y << bits;
#else
  const int x = cell % side, y = cell / side;
  const int west = (x + side - 1) % side, east = (x + 1) % side;
  const int north = (y + side - 1) % side * side, south = (y + 1) % side * side;
  const int row = y * side;
#endif
#ifdef WITHOUT_ARITHMETIC
  const int around = board[north + x] + board[row + west] + board[row + east] + board[south + x];
#else
  const int around = board[north + west] + board[north + x] + board[north + east] +
                     board[row + west] + board[row + east] + board[south + west] +
                     board[south + x] + board[south + east];
#endif
  return around == 3 || (around == 2 && board[row + x]);
}
#ifdef WITHOUT_LAUNCHES
__global__ void __launch_bounds__(1024)
    live(const unsigned char* __restrict__ first, unsigned char* __restrict__ last, int side,
         int generations) {
  __shared__ unsigned char board[2][kCells];
  for (int cell = threadIdx.x; cell < side * side; cell += 1024) board[0][cell] = first[cell] & 1;
  __syncthreads();
#pragma unroll 1
  for (int generation = 0; generation < generations; ++generation) {
    for (int cell = threadIdx.x; cell < side * side; cell += 1024)
      board[1 - generation % 2][cell] = life(board[generation % 2], cell, side);
    __syncthreads();
  }
  for (int cell = threadIdx.x; cell < side * side; cell += 1024)
    last[cell] = board[generations % 2][cell];
}
#else
__global__ void begin(const unsigned char* __restrict__ first, int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell < cells) boards[0][cell] = first[cell] & 1;
}
__global__ void live(int from, int side) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell < side * side) boards[1 - from][cell] = life(boards[from], cell, side);
}
__global__ void end(unsigned char* __restrict__ last, int from, int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell < cells) last[cell] = boards[from][cell];
}
#endif
extern "C" void solve(const unsigned char* first, unsigned char* last, int side, int generations) {
#ifdef WITHOUT_LAUNCHES
  live<<<1, 1024>>>(first, last, side, generations);
#else
  const int blocks = side * side / 256;
  begin<<<blocks, 256>>>(first, side * side);
  for (int generation = 0; generation < generations; ++generation)
    live<<<blocks, 256>>>(generation % 2, side);
  end<<<blocks, 256>>>(last, generations % 2, side * side);
#endif
}
