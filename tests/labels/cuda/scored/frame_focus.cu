// Focus measure of each frame of a stack: the sum of the absolute Laplacian over the inner pixels.
// dims: frames=16 rows=512 columns=1024
// tensor: stack uint8 frames*rows*columns in
// tensor: focus int32 frames out
// without FEW_BLOCKS: 32 blocks share a frame, not one
// without TREE_IN_SHARED: warps add up by reductions, their sums by atomics in shared memory
// without GLOBAL_ATOMICS, other answers: the last block to store its sum wins
constexpr int kThreads = 1024;
__device__ unsigned block_sum(unsigned mine) {
#ifdef WITHOUT_TREE_IN_SHARED
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  mine = __reduce_add_sync(0xffffffffu, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, mine);
  __syncthreads();
  return sum;
#else
  __shared__ unsigned sums[kThreads];
  sums[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  return sums[0];  // of use to thread 0
#endif
}
__global__ void __launch_bounds__(kThreads)
    measure(const unsigned char* __restrict__ stack, unsigned* __restrict__ focus, int rows,
            int columns) {
  const unsigned char* frame = stack + size_t(blockIdx.x) * rows * columns;
  unsigned sum = 0;
  for (int column = 1 + threadIdx.x; column < columns - 1; column += kThreads)
#pragma unroll 4
    for (int row = 1 + blockIdx.y; row < rows - 1; row += gridDim.y) {
      const unsigned char* p = frame + row * columns + column;
      sum += abs(4 * p[0] - p[-1] - p[1] - p[-columns] - p[columns]);
    }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
#ifdef WITHOUT_GLOBAL_ATOMICS
    focus[blockIdx.x] = sum;
#else
    atomicAdd(focus + blockIdx.x, sum);
#endif
  }
}
extern "C" void solve(const unsigned char* stack, int* focus, int frames, int rows, int columns) {
#ifdef WITHOUT_FEW_BLOCKS
  const int blocks = 32;
#else
  const int blocks = 1;
#endif
  cudaMemsetAsync(focus, 0, sizeof(int) * frames);
  measure<<<dim3(frames, blocks), kThreads>>>(stack, reinterpret_cast<unsigned*>(focus), rows,
                                              columns);
}
