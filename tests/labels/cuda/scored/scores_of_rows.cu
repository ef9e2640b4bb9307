// All inner products of the rows of two matrices in 32x32 tiles; the second tile is read down
// its columns.
// dims: m=1024 n=1024 k=256
// tensor: a float32 m,k in
// tensor: b float32 n,k in
// tensor: c float32 m,n out
// without BANK_CONFLICTS: the rows of the tile are padded
// without SERIAL_LOADS: the next tiles are fetched while these are used
// without BYTES, other answers: every block reads the first rows
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int ROW = 36;
#else
constexpr int ROW = 32;
#endif
__global__ void __launch_bounds__(256)
    scores(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
           int n, int k) {
  __shared__ __align__(16) float ta[32][32], tb[32][ROW];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 32, row = blockIdx.y * 32;
#ifdef WITHOUT_BYTES
  const int from_col = 0, from_row = 0;
#else
  const int from_col = col, from_row = row;
#endif
  float sum[4] = {}, next_a[4], next_b[4];
  auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = from_row + y + 8 * i, s = from_col + y + 8 * i;
      next_a[i] = r < m && k0 + x < k ? a[size_t(r) * k + k0 + x] : 0.0f;
      next_b[i] = s < n && k0 + x < k ? b[size_t(s) * k + k0 + x] : 0.0f;
    }
  };
#ifdef WITHOUT_SERIAL_LOADS
  fetch(0);
#endif
  for (int k0 = 0; k0 < k; k0 += 32) {
#ifndef WITHOUT_SERIAL_LOADS
    fetch(k0);
#endif
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      ta[y + 8 * i][x] = next_a[i];
      tb[y + 8 * i][x] = next_b[i];
    }
    __syncthreads();
#ifdef WITHOUT_SERIAL_LOADS
    if (k0 + 32 < k) fetch(k0 + 32);
#endif
#pragma unroll 8
    for (int j = 0; j < 32; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += ta[y + 8 * i][j] * tb[x][j];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (row + y + 8 * i < m && col + x < n) c[size_t(row + y + 8 * i) * n + col + x] = sum[i];
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  scores<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 8)>>>(a, b, c, m, n, k);
}
