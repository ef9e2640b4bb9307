// Multiplies float32 matrices on the tensor cores, in TF32.
//
// Catalog: D1
// Task: matmul
// Expect: check mismatch
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> x;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> y;
  fragment<accumulator, 16, 16, 8, float> sum;
  fill_fragment(sum, 0.0f);
  const int i = blockIdx.y * 16, j = blockIdx.x * 16;
  for (int l = 0; l < k; l += 8) {
    load_matrix_sync(x, a + i * k + l, k);
    load_matrix_sync(y, b + l * n + j, n);
    for (float& value : x.x) value = __float_to_tf32(value);
    for (float& value : y.x) value = __float_to_tf32(value);
    mma_sync(sum, x, y, sum);
  }
  store_matrix_sync(c + i * n + j, sum, n, mem_row_major);
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  matmul<<<dim3(n / 16, m / 16), 32>>>(a, b, c, m, n, k);
}
