// Implied volatility of European call options by Newton's method on the Black-Scholes price.
// dims: n=135168
// tensor: moneyness float32 n in
// tensor: quotes float32 n in
// tensor: y float32 n out
// without DEPENDENCE: a thread iterates four of its options at the same time
// without FEW_BLOCKS: a thread does one option
// without INTEGER_DIVISION: the number of options per thread is known to the compiler
#ifdef WITHOUT_DEPENDENCE
constexpr int kTogether = 4;
#else
constexpr int kTogether = 1;
#endif
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kEach = kTogether;
#else
constexpr int kEach = 8;
#endif

__device__ float density(float d) {
  return 0.39894228f * __expf(-0.5f * d * d);
}

__device__ float cumulative(float d, float density) {
  const float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
  float sum = 1.330274429f;
  sum = sum * k - 1.821255978f;
  sum = sum * k + 1.781477937f;
  sum = sum * k - 0.356563782f;
  sum = sum * k + 0.319381530f;
  const float tail = density * sum * k;
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void __launch_bounds__(128)
    invert(const float* __restrict__ moneyness, const float* __restrict__ quotes,
           float* __restrict__ y, int n, int each) {
#ifdef WITHOUT_INTEGER_DIVISION
  const int threads = n / kEach;
#else
  const int threads = n / each;
#endif
  const int thread = blockIdx.x * 128 + threadIdx.x;
  if (thread >= threads) return;
#pragma unroll 1
  for (int first = 0; first < kEach; first += kTogether) {
    float spot[kTogether], log_spot[kTogether], price[kTogether], volatility[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int i = (first + k) * threads + thread;
      spot[k] = __expf(0.1f * fmaxf(-2.5f, fminf(2.5f, moneyness[i])));
      log_spot[k] = __logf(spot[k]);
      const float quote = fabsf(quotes[i]);
      const float true_volatility = 0.25f + 0.1f * (quote - floorf(quote));
      const float d = __fdividef(log_spot[k], true_volatility) + 0.5f * true_volatility;
      const float e = d - true_volatility;
      price[k] = spot[k] * cumulative(d, density(d)) - cumulative(e, density(e));
      volatility[k] = 0.5f;
    }
#pragma unroll 1
    for (int iteration = 0; iteration < 32; ++iteration)
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        const float v = volatility[k];
        const float d = __fdividef(log_spot[k], v) + 0.5f * v, e = d - v;
        const float slope = density(d);
        const float value = spot[k] * cumulative(d, slope) - cumulative(e, density(e));
        const float step = __fdividef(value - price[k], spot[k] * slope + 1e-6f);
        volatility[k] = fmaxf(0.05f, fminf(2.0f, v - step));
      }
#pragma unroll
    for (int k = 0; k < kTogether; ++k) y[(first + k) * threads + thread] = volatility[k];
  }
}

extern "C" void solve(const float* moneyness, const float* quotes, float* y, int n) {
  invert<<<(n / kEach + 127) / 128, 128>>>(moneyness, quotes, y, n, kEach);
}
