// c = a b^T of fp8 numbers with a scale for 1 x 128 of a and 128 x 128 of b, as it is first
// written: 32 x 32 tiles of floats in shared memory, one thread an element.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace {

constexpr int kTile = 32, kBlock = 128;

__global__ void product(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_scales,
                        const float* b_scales, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ float left[kTile][kTile + 1], right[kTile][kTile + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x,
            other = blockIdx.x * kTile + y;
  const int blocks = (k + kBlock - 1) / kBlock;
  float sum = 0;
  for (int block = 0; block < blocks; ++block) {
    float part = 0;
    for (int begin = block * kBlock; begin < min(k, (block + 1) * kBlock); begin += kTile) {
      const bool inside = begin + x < k;
      left[y][x] = inside && row < m ? float(a[static_cast<int64_t>(row) * k + begin + x]) : 0.0f;
      right[y][x] =
          inside && other < n ? float(b[static_cast<int64_t>(other) * k + begin + x]) : 0.0f;
      __syncthreads();
      for (int i = 0; i < kTile; ++i) part += left[y][i] * right[x][i];
      __syncthreads();
    }
    if (row < m && column < n)
      sum += part * a_scales[static_cast<int64_t>(row) * blocks + block] *
             b_scales[column / kBlock * blocks + block];
  }
  if (row < m && column < n) c[static_cast<int64_t>(row) * n + column] = __float2bfloat16(sum);
}

}  // namespace

extern "C" void solve(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_scales,
                      const float* b_scales, __nv_bfloat16* c, int m, int n, int k) {
  product<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(
      a, b, a_scales, b_scales, c, m, n, k);
}
