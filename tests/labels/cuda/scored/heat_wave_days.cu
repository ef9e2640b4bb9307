// The longest marine heat wave of each cell of an ocean: most days in a row above the cell's
// threshold.
// dims: cells=32768 days=256
// tensor: temperature float16 days,cells in
// tensor: threshold float32 cells in
// tensor: longest int32 cells out
// without SERIAL_LOADS: the temperatures of sixteen days are loaded before the first is looked at
// without NARROW_ACCESS: a thread takes two cells and loads them as one word
// without DIVERGENCE: days below the threshold are counted by arithmetic, not in a branch of their own
#include <cuda_fp16.h>
__device__ void count_day(bool above, int& run, int& best) {
#ifdef WITHOUT_DIVERGENCE
  run = (run + 1) * above;
  best = max(best, run);
#else
  if (above) {
    if (++run > best) best = run;
  } else {
    run = 0;
  }
#endif
}
__global__ void __launch_bounds__(256)
    find_waves(const __half* __restrict__ temperature, const float* __restrict__ threshold,
               int* __restrict__ longest, int cells, int days) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(WITHOUT_NARROW_ACCESS)
  const float2 limit = reinterpret_cast<const float2*>(threshold)[t];
  int2 run = {}, best = {};
#pragma unroll 1
  for (int day = 0; day < days; ++day) {
    const __half2 pair = reinterpret_cast<const __half2*>(temperature + size_t(day) * cells)[t];
    count_day(__low2float(pair) > limit.x, run.x, best.x);
    count_day(__high2float(pair) > limit.y, run.y, best.y);
  }
  reinterpret_cast<int2*>(longest)[t] = best;
#elif defined(WITHOUT_SERIAL_LOADS)
  const float limit = threshold[t];
  int run = 0, best = 0;
#pragma unroll 1
  for (int day = 0; day < days; day += 16) {
    __half in[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) in[k] = temperature[size_t(day + k) * cells + t];
#pragma unroll
    for (int k = 0; k < 16; ++k) count_day(__half2float(in[k]) > limit, run, best);
  }
  longest[t] = best;
#else
  const float limit = threshold[t];
  int run = 0, best = 0;
#pragma unroll 1
  for (int day = 0; day < days; ++day)
    count_day(__half2float(temperature[size_t(day) * cells + t]) > limit, run, best);
  longest[t] = best;
#endif
}
extern "C" void solve(const __half* temperature, const float* threshold, int* longest, int cells,
                      int days) {
#ifdef WITHOUT_NARROW_ACCESS
  const int threads = cells / 2;
#else
  const int threads = cells;
#endif
  find_waves<<<threads / 256, 256>>>(temperature, threshold, longest, cells, days);
}
