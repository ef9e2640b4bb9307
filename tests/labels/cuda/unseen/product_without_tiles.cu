// A matrix product whose threads read a row and a column each.
// dims: m=1024 n=1024 k=1024
// tensor: a float32 m,k in
// tensor: b float32 k,n in
// tensor: c float32 m,n out
// without REPEATED_READS: tiles of 64 x 64 in shared memory, 4 x 4 results per thread
#ifdef WITHOUT_REPEATED_READS
__global__ void __launch_bounds__(256)
    product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[16][65], right[16][64];
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, t = threadIdx.x, tx = t % 16,
            ty = t / 16;
  float sums[4][4] = {};
  for (int at = 0; at < k; at += 16) {
    for (int e = t; e < 1024; e += 256) {
      const int r = e / 16, p = e % 16, q = e / 64, s = e % 64;
      left[p][r] = row0 + r < m && at + p < k ? a[size_t(row0 + r) * k + at + p] : 0;
      right[q][s] = col0 + s < n && at + q < k ? b[size_t(at + q) * n + col0 + s] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += left[p][ty + 16 * i] * right[p][tx + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row < m && col < n) c[size_t(row) * n + col] = sums[i][j];
    }
}
#else
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[size_t(row) * k + p] * b[size_t(p) * n + col];
  c[size_t(row) * n + col] = sum;
}
#endif
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
#ifdef WITHOUT_REPEATED_READS
  product<<<dim3((n + 63) / 64, (m + 63) / 64), 256>>>(a, b, c, m, n, k);
#else
  product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
#endif
}
