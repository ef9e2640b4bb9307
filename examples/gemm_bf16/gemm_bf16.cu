// Matrix product of bfloat16 as it is first written: one thread an element, everything from global
// memory.
#include <cuda_bf16.h>

namespace {

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                        int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l)
    sum += __bfloat162float(a[static_cast<long long>(row) * k + l]) *
           __bfloat162float(b[static_cast<long long>(l) * n + column]);
  c[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}

}  // namespace

extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                      int k) {
  product<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
}
