// C = A B in bf16 with float sums, as first written: 32 x 32 tiles in shared memory.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

constexpr int kTile = 32;

__global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                     int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int at = 0; at < k; at += kTile) {
    const int inner_a = at + threadIdx.x;
    const int inner_b = at + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && inner_a < k ? __bfloat162float(a[static_cast<int64_t>(row) * k + inner_a]) : 0;
    b_tile[threadIdx.y][threadIdx.x] =
        inner_b < k && col < n ? __bfloat162float(b[static_cast<int64_t>(inner_b) * n + col]) : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<int64_t>(row) * n + col] = __float2bfloat16(sum);
}

extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                      int n, int k) {
  gemm<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(a, b, c, m,
                                                                                       n, k);
}
