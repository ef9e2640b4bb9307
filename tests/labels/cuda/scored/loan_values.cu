// Present value of a loan book's daily cash flows under many rates: back from the last day, the
// value is discounted and weighted by the share that survives the day.
// dims: scenarios=16896 days=8192
// tensor: rates float32 scenarios in
// tensor: flows float32 days in
// tensor: values float32 scenarios out
// without DEPENDENCE: four sums, of every fourth day each, go back by four days at once
// without SHARED_TRAFFIC, other answers: all days have the flows of the last 16
constexpr int kMost = 8192, kThreads = 128;
__global__ void __launch_bounds__(kThreads)
    discount(const float* __restrict__ rates, const float4* __restrict__ flows,
             float* __restrict__ values, int scenarios, int quads) {
  __shared__ float4 shared_flows[kMost / 4];
#pragma unroll 8
  for (int k = threadIdx.x; k < quads; k += kThreads) {
    const float4 f = flows[k];
    shared_flows[k] = make_float4(fmaf(0.25f, f.x, 1.0f), fmaf(0.25f, f.y, 1.0f),
                                  fmaf(0.25f, f.z, 1.0f), fmaf(0.25f, f.w, 1.0f));
  }
  __syncthreads();
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= scenarios) return;
  const float day = 1.0f - 1e-4f * fmaf(0.1f, rates[i], 1.0f), alive = 1.0f - 0.5f * (1.0f - day);
  float4 now[4], next[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) now[k] = next[k] = shared_flows[quads - 4 + k];
#ifdef WITHOUT_DEPENDENCE
  const float both = day * alive, four = both * both * both * day;  // times alive: both, four times
  float4 sum = make_float4(0, 0, 0, 0);
#else
  float value = 0;
#endif
#pragma unroll 1
  for (int first = quads - 4; first >= 0; first -= 4) {
#ifndef WITHOUT_SHARED_TRAFFIC
#pragma unroll
    for (int k = 0; k < 4; ++k)
      next[k] = shared_flows[max(first - 4, 0) + k];  // ahead of their use
#endif
#pragma unroll
    for (int k = 3; k >= 0; --k) {
#ifdef WITHOUT_DEPENDENCE
      sum.x = fmaf(sum.x, four, now[k].x) * alive;
      sum.y = fmaf(sum.y, four, now[k].y) * alive;
      sum.z = fmaf(sum.z, four, now[k].z) * alive;
      sum.w = fmaf(sum.w, four, now[k].w) * alive;
#else
      value = fmaf(value, day, now[k].w) * alive;
      value = fmaf(value, day, now[k].z) * alive;
      value = fmaf(value, day, now[k].y) * alive;
      value = fmaf(value, day, now[k].x) * alive;
#endif
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) now[k] = next[k];
  }
#ifdef WITHOUT_DEPENDENCE
  const float value = fmaf(fmaf(fmaf(sum.w, both, sum.z), both, sum.y), both, sum.x);
#endif
  values[i] = value;
}
extern "C" void solve(const float* rates, const float* flows, float* values, int scenarios,
                      int days) {
  if (days > kMost || days % 16) return;
  discount<<<(scenarios + kThreads - 1) / kThreads, kThreads>>>(
      rates, reinterpret_cast<const float4*>(flows), values, scenarios, days / 4);
}
