// Product of two int8 matrices with int32 sums, the second one stored by columns.
// dims: m=2048 n=2048 k=2048
// tensor: a int8 m,k in
// tensor: b int8 n,k in
// tensor: y int32 m,n out
// without OPERANDS: a warp does 4 x 2 tiles, so that a loaded fragment serves several products
#include <mma.h>
using namespace nvcuda;
#ifdef WITHOUT_OPERANDS
constexpr int kDown = 4, kAcross = 2;
#else
constexpr int kDown = 1, kAcross = 1;
#endif

__global__ void __launch_bounds__(256)
    multiply(const signed char* __restrict__ a, const signed char* __restrict__ b,
             int* __restrict__ y, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int row = (blockIdx.y * 4 + warp / 2) * 16 * kDown;
  const int col = (blockIdx.x * 2 + warp % 2) * 16 * kAcross;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sums[kDown][kAcross];
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAcross; ++c) wmma::fill_fragment(sums[r][c], 0);
  for (int depth = 0; depth < k; depth += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left[kDown];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right[kAcross];
#pragma unroll
    for (int r = 0; r < kDown; ++r)
      wmma::load_matrix_sync(left[r], a + (row + r * 16) * k + depth, k);
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
      wmma::load_matrix_sync(right[c], b + (col + c * 16) * k + depth, k);
#pragma unroll
    for (int r = 0; r < kDown; ++r)
#pragma unroll
      for (int c = 0; c < kAcross; ++c) wmma::mma_sync(sums[r][c], left[r], right[c], sums[r][c]);
  }
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
      wmma::store_matrix_sync(y + (row + r * 16) * n + col + c * 16, sums[r][c], n,
                              wmma::mem_row_major);
}

extern "C" void solve(const signed char* a, const signed char* b, int* y, int m, int n, int k) {
  multiply<<<dim3(n / (32 * kAcross), m / (64 * kDown)), 256>>>(a, b, y, n, k);
}
