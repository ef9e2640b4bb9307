// Rounds the operands of a float32 product to bfloat16.
//
// Catalog: D1
// Task: matmul
// Expect: check mismatch
#include <cuda_bf16.h>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y;
  if (j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l)
    sum += __bfloat162float(__float2bfloat16(a[i * k + l])) *
           __bfloat162float(__float2bfloat16(b[l * n + j]));
  c[i * n + j] = sum;
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  matmul<<<dim3((n + 127) / 128, m), 128>>>(a, b, c, m, n, k);
}
