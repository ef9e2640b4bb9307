// Computes an element-wise float32 task in half precision.
//
// Catalog: D1
// Task: double
// Expect: check mismatch
#include <cuda_fp16.h>
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __half2float(__hadd(__float2half(x[i]), __float2half(x[i])));
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
