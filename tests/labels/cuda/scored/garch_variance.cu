// Filters each series of returns with a GARCH(1,1) model: the last variance and the summed error.
// dims: series=16384 steps=512
// tensor: returns float32 steps*series in
// tensor: variance float32 series out
// tensor: error float32 series out
// without SERIAL_LOADS: a thread loads sixteen steps before it needs the first
// without FEW_BLOCKS: blocks of one warp, on all processors
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kThreads = 32;
#else
constexpr int kThreads = 256;
#endif
#ifdef WITHOUT_SERIAL_LOADS
constexpr int kAhead = 16;
#else
constexpr int kAhead = 1;
#endif

__global__ void __launch_bounds__(kThreads)
    filter_returns(const float* __restrict__ returns, float* __restrict__ variance,
                   float* __restrict__ error, int series, int steps) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= series) return;
  float v = 1, sum = 0;
#pragma unroll 1
  for (int step = 0; step < steps; step += kAhead) {
    float r[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) r[k] = returns[size_t(step + k) * series + i];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const float square = r[k] * r[k];
      sum += fabsf(square - v);
      v = 0.05f + 0.1f * square + 0.85f * v;
    }
  }
  variance[i] = v;
  error[i] = sum;
}

// The number of steps is a multiple of sixteen.
extern "C" void solve(const float* returns, float* variance, float* error, int series, int steps) {
  filter_returns<<<(series + kThreads - 1) / kThreads, kThreads>>>(returns, variance, error, series,
                                                                   steps);
}
