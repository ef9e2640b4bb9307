// A 1x1 convolution in int8 on tensor cores: each warp owns one small tile and fetches its
// operands from global memory.
// dims: pixels=4096 outputs=2048 inputs=1024
// tensor: x int8 pixels,inputs in
// tensor: weight int8 outputs,inputs in
// tensor: y int32 pixels,outputs out
// without OPERANDS: a warp owns four by four tiles, so every fetched operand is used four times
// without BYTES, other answers: one of the four sums of a lane is written
// without INTEGER_DIVISION: the tile comes from a two-dimensional grid
#include <cstdint>
#ifdef WITHOUT_OPERANDS
constexpr int DOWN = 4, ACROSS = 4;
#else
constexpr int DOWN = 1, ACROSS = 1;
#endif
template <bool WHOLE>
__device__ __forceinline__ int four(const signed char* __restrict__ p, int row, int rows, int i,
                                    int length) {
  if (WHOLE) return *reinterpret_cast<const int*>(p + size_t(row) * length + i);
  unsigned packed = 0;
  for (int k = 0; k < 4; ++k)
    if (row < rows && i + k < length)
      packed |= unsigned((unsigned char)p[size_t(row) * length + i + k]) << 8 * k;
  return int(packed);
}
template <bool WHOLE>
__global__ void __launch_bounds__(128)
    product(const signed char* __restrict__ x, const signed char* __restrict__ weight,
            int* __restrict__ y, int pixels, int outputs, int inputs) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#ifdef WITHOUT_INTEGER_DIVISION
  const int tile_row = blockIdx.y, tile_col = blockIdx.x * 4 + threadIdx.x / 32;
#else
  const int across = (outputs + 8 * ACROSS - 1) / (8 * ACROSS),
            tile = blockIdx.x * 4 + threadIdx.x / 32;
  const int tile_row = tile / across, tile_col = tile % across;
#endif
  const int row = tile_row * 16 * DOWN, col = tile_col * 8 * ACROSS;
  if (row >= pixels || col >= outputs) return;
  int sum[DOWN][ACROSS][4] = {};
#pragma unroll 2
  for (int k = 0; k < inputs; k += 32) {
    int a[DOWN][4], b[ACROSS][2];
#pragma unroll
    for (int i = 0; i < DOWN; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        a[i][r] =
            four<WHOLE>(x, row + 16 * i + g + r % 2 * 8, pixels, k + 4 * t + r / 2 * 16, inputs);
#pragma unroll
    for (int j = 0; j < ACROSS; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        b[j][r] = four<WHOLE>(weight, col + 8 * j + g, outputs, k + 4 * t + 16 * r, inputs);
#pragma unroll
    for (int i = 0; i < DOWN; ++i)
#pragma unroll
      for (int j = 0; j < ACROSS; ++j)
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+r"(sum[i][j][0]), "+r"(sum[i][j][1]), "+r"(sum[i][j][2]), "+r"(sum[i][j][3])
            : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
  }
#pragma unroll
  for (int i = 0; i < DOWN; ++i)
#pragma unroll
    for (int j = 0; j < ACROSS; ++j) {
#ifdef WITHOUT_BYTES
      const int r = row + 16 * i + g, c = col + 8 * j + 2 * t;
      if (r < pixels && c < outputs)
        y[size_t(r) * outputs + c] = sum[i][j][0] ^ sum[i][j][1] ^ sum[i][j][2] ^ sum[i][j][3];
#else
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int r = row + 16 * i + g + e / 2 * 8, c = col + 8 * j + 2 * t + e % 2;
        if (r < pixels && c < outputs) y[size_t(r) * outputs + c] = sum[i][j][e];
      }
#endif
    }
}
extern "C" void solve(const signed char* x, const signed char* weight, int* y, int pixels,
                      int outputs, int inputs) {
  const int down = (pixels + 16 * DOWN - 1) / (16 * DOWN),
            across = (outputs + 8 * ACROSS - 1) / (8 * ACROSS);
#ifdef WITHOUT_INTEGER_DIVISION
  const dim3 grid((across + 3) / 4, down);
#else
  const dim3 grid((down * across + 3) / 4);
#endif
  if (pixels % (16 * DOWN) == 0 && outputs % (8 * ACROSS) == 0 && inputs % 32 == 0)
    product<true><<<grid, 128>>>(x, weight, y, pixels, outputs, inputs);
  else
    product<false><<<grid, 128>>>(x, weight, y, pixels, outputs, inputs);
}
