// Causal kernel regression: for each position the weighted mean of all the values up to it.
// dims: n=33792
// tensor: key float32 n in
// tensor: value float32 n in
// tensor: y float32 n out
// without IMBALANCE: each thread takes an early position and a late one, not two neighbors
// without SPECIAL_FUNCTIONS, other answers: weights by a product, not by an exponential
__device__ float mean_until(const float* __restrict__ key, const float* __restrict__ value,
                            int last) {
  const float own = key[last];
  float sum = 0, total = 0;
#pragma unroll 8
  for (int j = 0; j <= last; ++j) {
    const float gap = own - __ldg(key + j);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float weight = fmaf(gap, gap, 1.0f);
#else
    const float weight = exp2f(-gap * gap);
#endif
    total += weight;
    sum = fmaf(weight, __ldg(value + j), sum);
  }
  return sum / total;
}
__global__ void __launch_bounds__(128)
    causal_means(const float* __restrict__ key, const float* __restrict__ value,
                 float* __restrict__ y, int n) {
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
#ifdef WITHOUT_IMBALANCE
    const int t = blockIdx.x * 128 + threadIdx.x, i = turn ? n - 1 - t : t;
#else
    const int i = blockIdx.x * 256 + turn * 128 + threadIdx.x;
#endif
    y[i] = mean_until(key, value, i);
  }
}
extern "C" void solve(const float* key, const float* value, float* y, int n) {
  causal_means<<<n / 256, 128>>>(key, value, y, n);
}
