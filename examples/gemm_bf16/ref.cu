// Matrix product of bfloat16, tile by tile in shared memory. Products of two bfloat16 are exact in
// float; 32 of them are summed in float, the tiles' sums in double.
#include <cuda_bf16.h>

constexpr int kTile = 32;

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                        int k) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  double sum = 0;
  for (int begin = 0; begin < k; begin += kTile) {
    const int l = begin + threadIdx.x, r = begin + threadIdx.y;
    left[threadIdx.y][threadIdx.x] =
        row < m && l < k ? __bfloat162float(a[static_cast<long long>(row) * k + l]) : 0;
    right[threadIdx.y][threadIdx.x] =
        column < n && r < k ? __bfloat162float(b[static_cast<long long>(r) * n + column]) : 0;
    __syncthreads();
    float partial = 0;
    for (int i = 0; i < kTile; ++i) partial += left[threadIdx.y][i] * right[i][threadIdx.x];
    sum += partial;
    __syncthreads();
  }
  if (row < m && column < n)
    c[static_cast<long long>(row) * n + column] = __float2bfloat16(static_cast<float>(sum));
}

extern "C" void reference(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                          int k) {
  product<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(a, b, c, m, n, k);
}
