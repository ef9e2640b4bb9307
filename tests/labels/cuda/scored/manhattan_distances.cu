// Sums of absolute differences between all pairs of two sets of feature vectors.
// dims: m=2048 n=2048 k=128
// tensor: a float32 m,k in
// tensor: b float32 n,k in
// tensor: y float32 m,n out
// without SHARED_TRAFFIC: a thread does 4 x 4 pairs, so a value from shared memory serves four
// without BARRIERS: takes 64 features at a time, so that it waits half as often
#ifdef WITHOUT_SHARED_TRAFFIC
constexpr int kSide = 4;
#else
constexpr int kSide = 1;
#endif
#ifdef WITHOUT_BARRIERS
constexpr int kDepth = 64;
#else
constexpr int kDepth = 32;
#endif
constexpr int kTile = 16 * kSide;

__global__ void __launch_bounds__(256)
    distances(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
              int n, int k) {
  __shared__ float rows[kTile][kDepth + 1], cols[kTile][kDepth + 1];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row = blockIdx.y * kTile, col = blockIdx.x * kTile;
  float sums[kSide][kSide] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      rows[i / kDepth][i % kDepth] = a[(row + i / kDepth) * k + first + i % kDepth];
      cols[i / kDepth][i % kDepth] = b[(col + i / kDepth) * k + first + i % kDepth];
    }
    __syncthreads();
#pragma unroll 16
    for (int depth = 0; depth < kDepth; ++depth) {
      float mine[kSide];
#pragma unroll
      for (int c = 0; c < kSide; ++c) mine[c] = cols[c * 16 + tx][depth];
#pragma unroll
      for (int r = 0; r < kSide; ++r) {
        const float other = rows[r * 16 + ty][depth];
#pragma unroll
        for (int c = 0; c < kSide; ++c) sums[r][c] += fabsf(other - mine[c]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll
    for (int c = 0; c < kSide; ++c) y[(row + r * 16 + ty) * n + col + c * 16 + tx] = sums[r][c];
}

extern "C" void solve(const float* a, const float* b, float* y, int m, int n, int k) {
  distances<<<dim3(n / kTile, m / kTile), 256>>>(a, b, y, n, k);
}
