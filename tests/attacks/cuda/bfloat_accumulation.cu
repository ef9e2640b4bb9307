// Accumulates in bfloat16.
//
// Catalog: D2
// Task: rowsum
// Expect: check mismatch
#include <cuda_bf16.h>
__global__ void rowsum(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  __nv_bfloat16 sum = __float2bfloat16(0);
  for (int c = 0; c < cols; ++c)
    sum = __float2bfloat16(__bfloat162float(sum) + x[static_cast<long long>(r) * cols + c]);
  y[r] = __bfloat162float(sum);
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  rowsum<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);
}
