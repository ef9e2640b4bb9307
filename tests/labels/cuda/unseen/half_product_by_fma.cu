// A product of half-precision matrices, tiled well, on the units for single numbers.
// dims: m=2048 n=2048 k=1024
// tensor: a float16 m,k in
// tensor: b float16 k,n in
// tensor: c float32 m,n out
// without SCALAR_PRODUCTS: the same tiles on tensor cores
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void __launch_bounds__(256)
    product(const half* a, const half* b, float* c, int m, int n, int k) {
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, t = threadIdx.x;
#ifdef WITHOUT_SCALAR_PRODUCTS
  alignas(32) __shared__ half left[64][16 + 8];
  alignas(32) __shared__ half right[16][64 + 8];
  alignas(32) __shared__ float result[64][64];
  const int warp = t / 32, tile_row = warp / 2 * 16, tile_col = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2];
  for (auto& sum : sums) wmma::fill_fragment(sum, 0.0f);
#else
  __shared__ float left[64][16 + 1], right[16][64];
  const int tx = t % 16, ty = t / 16;
  float sums[4][4] = {};
#endif
  for (int at = 0; at < k; at += 16) {
    for (int e = t; e < 1024; e += 256) {
      const int r = e / 16, p = e % 16, q = e / 64, s = e % 64;
      left[r][p] = row0 + r < m && at + p < k ? a[size_t(row0 + r) * k + at + p] : half(0.0f);
      right[q][s] = col0 + s < n && at + q < k ? b[size_t(at + q) * n + col0 + s] : half(0.0f);
    }
    __syncthreads();
#ifdef WITHOUT_SCALAR_PRODUCTS
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::load_matrix_sync(x, &left[tile_row][0], 24);
    for (int j = 0; j < 2; ++j) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> z;
      wmma::load_matrix_sync(z, &right[0][tile_col + 16 * j], 72);
      wmma::mma_sync(sums[j], x, z, sums[j]);
    }
#else
#pragma unroll
    for (int p = 0; p < 16; ++p)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += left[ty + 16 * i][p] * right[p][tx + 16 * j];
#endif
    __syncthreads();
  }
#ifdef WITHOUT_SCALAR_PRODUCTS
  for (int j = 0; j < 2; ++j)
    wmma::store_matrix_sync(&result[tile_row][tile_col + 16 * j], sums[j], 64, wmma::mem_row_major);
  __syncthreads();
  for (int e = t; e < 4096; e += 256)
    if (row0 + e / 64 < m && col0 + e % 64 < n)
      c[size_t(row0 + e / 64) * n + col0 + e % 64] = result[e / 64][e % 64];
#else
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row < m && col < n) c[size_t(row) * n + col] = sums[i][j];
    }
#endif
}
extern "C" void solve(const half* a, const half* b, float* c, int m, int n, int k) {
  product<<<dim3((n + 63) / 64, (m + 63) / 64), 256>>>(a, b, c, m, n, k);
}
