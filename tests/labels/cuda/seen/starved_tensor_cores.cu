// A product on tensor cores that reads its operands from memory again for every use.
// dims: m=2048 n=2048 k=2048
// tensor: a float16 m,k in
// tensor: b float16 k,n in
// tensor: c float32 m,n out
// without OPERANDS, other answers: the same products on operands that stay in registers
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void __launch_bounds__(128)
    product(const half* a, const half* b, float* c, int m, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int row = (blockIdx.y * 2 + warp / 2) * 16, col = (blockIdx.x * 2 + warp % 2) * 16;
  if (row + 16 > m || col + 16 > n) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> z;
#ifdef WITHOUT_OPERANDS
  wmma::load_matrix_sync(x, a + size_t(row) * k, k);
  wmma::load_matrix_sync(z, b + col, n);
#endif
  for (int at = 0; at + 16 <= k; at += 16) {
#ifndef WITHOUT_OPERANDS
    wmma::load_matrix_sync(x, a + size_t(row) * k + at, k);
    wmma::load_matrix_sync(z, b + size_t(at) * n + col, n);
#endif
    wmma::mma_sync(sum, x, z, sum);
  }
  wmma::store_matrix_sync(c + size_t(row) * n + col, sum, n, wmma::mem_row_major);
}
// What is left at the edges.
__global__ void edges(const half* a, const half* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  const bool inside = row < m / 16 * 16 && col < n / 16 * 16 && k % 16 == 0 && n % 16 == 0;
  if (inside) return;
  float sum = 0;
  for (int p = 0; p < k; ++p)
    sum += __half2float(a[size_t(row) * k + p]) * __half2float(b[size_t(p) * n + col]);
  c[size_t(row) * n + col] = sum;
}
extern "C" void solve(const half* a, const half* b, float* c, int m, int n, int k) {
  if (k % 16 == 0 && n % 16 == 0) product<<<dim3(n / 32 + 1, m / 32 + 1), 128>>>(a, b, c, m, n, k);
  if (k % 16 || n % 16 || m % 16)
    edges<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
