// Propagates the 16 x 16 covariance of each Kalman filter through twelve linear steps.
// dims: filters=8192
// tensor: transition float32 256 in
// tensor: covariance float32 filters*256 in
// tensor: predicted float32 filters*256 out
// without SHARED_TRAFFIC: each thread computes 4 x 4 elements, of operands in registers
// without BYTES, other answers: all filters start with the covariance of the first
#ifdef WITHOUT_SHARED_TRAFFIC
constexpr int kTile = 4;
#else
constexpr int kTile = 1;
#endif
constexpr int kThreads = 256 / (kTile * kTile), kFilters = 256 / kThreads, kPitch = 20;
constexpr int kMatrix = 16 * kPitch + 8;
// out = scale * left * right
__device__ void multiply(const float* left, const float* right, float* out, float scale) {
  const int t = threadIdx.x % kThreads;
  const int row = t / (16 / kTile) * kTile, column = t % (16 / kTile) * kTile;
  float sum[kTile][kTile] = {};
#if defined(WITHOUT_SHARED_TRAFFIC)
#pragma unroll
  for (int k = 0; k < 16; k += 4) {
    float a[4][4], b[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      *reinterpret_cast<float4*>(a[i]) =
          *reinterpret_cast<const float4*>(left + (row + i) * kPitch + k);
      *reinterpret_cast<float4*>(b[i]) =
          *reinterpret_cast<const float4*>(right + (k + i) * kPitch + column);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int m = 0; m < 4; ++m) sum[i][j] += a[i][m] * b[m][j];
  }
#else
#pragma unroll
  for (int k = 0; k < 16; ++k) sum[0][0] += left[row * kPitch + k] * right[k * kPitch + column];
#endif
#ifdef WITHOUT_SHARED_TRAFFIC
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(out + (row + i) * kPitch + column) =
        make_float4(scale * sum[i][0], scale * sum[i][1], scale * sum[i][2], scale * sum[i][3]);
#else
  out[row * kPitch + column] = scale * sum[0][0];
#endif
}
__global__ void __launch_bounds__(256)
    predict_steps(const float* __restrict__ transition, const float* __restrict__ covariance,
                  float* __restrict__ predicted) {
  __shared__ __align__(16) float f[16 * kPitch], ft[16 * kPitch], p[kFilters][kMatrix],
      q[kFilters][kMatrix];
  const int own = threadIdx.x / kThreads;
  const size_t base = size_t(blockIdx.x) * kFilters * 256;
  f[threadIdx.x / 16 * kPitch + threadIdx.x % 16] = transition[threadIdx.x] * 0.25f;
  ft[threadIdx.x % 16 * kPitch + threadIdx.x / 16] = transition[threadIdx.x] * 0.25f;
  for (int k = 0; k < kFilters; ++k) {
#ifdef WITHOUT_BYTES
    const float v = covariance[threadIdx.x] + 1e-4f * (blockIdx.x * kFilters + k);
#else
    const float v = covariance[base + k * 256 + threadIdx.x];
#endif
    p[k][threadIdx.x / 16 * kPitch + threadIdx.x % 16] = v;
  }
  __syncthreads();
#pragma unroll 1
  for (int step = 0; step < 12; ++step) {
    multiply(f, p[own], q[own], 1.0f);
    __syncthreads();
    multiply(q[own], ft, p[own], 0.9f);
    __syncthreads();
  }
  for (int k = 0; k < kFilters; ++k)
    predicted[base + k * 256 + threadIdx.x] = p[k][threadIdx.x / 16 * kPitch + threadIdx.x % 16];
}
extern "C" void solve(const float* transition, const float* covariance, float* predicted,
                      int filters) {
  predict_steps<<<filters / kFilters, 256>>>(transition, covariance, predicted);
}
