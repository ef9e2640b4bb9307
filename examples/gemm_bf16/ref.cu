// The reference: tiles in shared memory, the sum of each element in double.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

constexpr int kTile = 16;

__global__ void gemm_reference(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                               int m, int n, int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  double sum = 0;
  for (int at = 0; at < k; at += kTile) {
    const int inner_a = at + threadIdx.x;
    const int inner_b = at + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && inner_a < k ? __bfloat162float(a[static_cast<int64_t>(row) * k + inner_a]) : 0;
    b_tile[threadIdx.y][threadIdx.x] =
        inner_b < k && col < n ? __bfloat162float(b[static_cast<int64_t>(inner_b) * n + col]) : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i)
      sum += static_cast<double>(a_tile[threadIdx.y][i]) * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    c[static_cast<int64_t>(row) * n + col] = __float2bfloat16(static_cast<float>(sum));
}

extern "C" void reference(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                          int n, int k) {
  gemm_reference<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(
      a, b, c, m, n, k);
}
