// A filter of 128 taps: each product takes its sample and its tap from shared memory.
// dims: n=8388608
// tensor: x float32 n in
// tensor: tap float32 128 in
// tensor: y float32 n out
// without SHARED_TRAFFIC: each thread makes eight neighbors from samples kept in registers
// without DEPENDENCE: four partial sums per output
// without BYTES, other answers: every block reads the first samples
constexpr int TAPS = 128, OUTPUTS = 2048;
__global__ void __launch_bounds__(256)
    filter(const float* __restrict__ x, const float* __restrict__ tap, float* __restrict__ y,
           int n) {
  __shared__ __align__(16) float sample[OUTPUTS + TAPS], weight[TAPS];
  const int first = blockIdx.x * OUTPUTS;
#ifdef WITHOUT_BYTES
  const int from = 0;
#else
  const int from = first;
#endif
  for (int i = threadIdx.x; i < OUTPUTS + TAPS; i += 256)
    sample[i] = from + i < n ? x[from + i] : 0.0f;
  if (threadIdx.x < TAPS) weight[threadIdx.x] = tap[threadIdx.x];
  __syncthreads();
#ifdef WITHOUT_SHARED_TRAFFIC
  const int base = 8 * threadIdx.x;
  float sum[8] = {}, kept[12];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    *reinterpret_cast<float4*>(kept + 4 * i) = *reinterpret_cast<float4*>(sample + base + 4 * i);
#pragma unroll 4
  for (int t = 0; t < TAPS; t += 4) {
    const float4 w = *reinterpret_cast<float4*>(weight + t),
                 s = *reinterpret_cast<float4*>(sample + base + t + 8);
    kept[8] = s.x;
    kept[9] = s.y;
    kept[10] = s.z;
    kept[11] = s.w;
#pragma unroll
    for (int o = 0; o < 8; ++o) {
      sum[o] += w.x * kept[o];
      sum[o] += w.y * kept[o + 1];
      sum[o] += w.z * kept[o + 2];
      sum[o] += w.w * kept[o + 3];
    }
#pragma unroll
    for (int o = 0; o < 8; ++o) kept[o] = kept[o + 4];
  }
  if (first + base + 8 <= n) {
    *reinterpret_cast<float4*>(y + first + base) = {sum[0], sum[1], sum[2], sum[3]};
    *reinterpret_cast<float4*>(y + first + base + 4) = {sum[4], sum[5], sum[6], sum[7]};
  } else {
#pragma unroll
    for (int o = 0; o < 8; ++o)
      if (first + base + o < n) y[first + base + o] = sum[o];
  }
#else
#ifdef WITHOUT_DEPENDENCE
  constexpr int SUMS = 4;
#else
  constexpr int SUMS = 1;
#endif
#pragma unroll 1
  for (int o = threadIdx.x; o < OUTPUTS; o += 256) {
    float sum[SUMS] = {}, all = 0;
#pragma unroll 16
    for (int t = 0; t < TAPS; ++t) sum[t % SUMS] += weight[t] * sample[o + t];
    for (int s = 0; s < SUMS; ++s) all += sum[s];
    if (first + o < n) y[first + o] = all;
  }
#endif
}
extern "C" void solve(const float* x, const float* tap, float* y, int n) {
  filter<<<(n + OUTPUTS - 1) / OUTPUTS, 256>>>(x, tap, y, n);
}
