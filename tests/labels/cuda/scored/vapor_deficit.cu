// How much vapor the air of each cell of a forecast could still take up, over ice where it freezes.
// dims: cells=8388608
// tensor: temperature float32 cells in
// tensor: pressure float32 cells in
// tensor: mixing float32 cells in
// tensor: deficit float16 cells out
// without BYTES, other answers: all blocks read the cells of the first 64
// without SPECIAL_FUNCTIONS, other answers: saturation is linear in the temperature
// without DIVERGENCE: the constants of ice or water are selected, then used by all
#include <cuda_fp16.h>
__device__ float saturation(float celsius, float a, float b) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return 6.11f + a * celsius * (0.004f * b);
#else
  return 6.11f * __expf(__fdividef(a * celsius, celsius + b));
#endif
}
__device__ float lacking(float temperature, float pressure, float mixing) {
  const float celsius = 8 * temperature;
#ifdef WITHOUT_DIVERGENCE
  const bool freezes = celsius < 0;
  const float saturated = saturation(celsius, freezes ? 21.87f : 17.27f, freezes ? 265.5f : 237.3f);
#else
  float saturated;
  if (celsius < 0)
    saturated = saturation(celsius, 21.87f, 265.5f);
  else
    saturated = saturation(celsius, 17.27f, 237.3f);
#endif
  return saturated - 0.0016f * (1000 + 10 * pressure) * fabsf(mixing);
}
__global__ void __launch_bounds__(256)
    find_deficit(const float4* __restrict__ temperature, const float4* __restrict__ pressure,
                 const float4* __restrict__ mixing, uint2* __restrict__ deficit, int quads) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= quads) return;
#ifdef WITHOUT_BYTES
  const int from = i & (64 * 256 - 1);
#else
  const int from = i;
#endif
  const float4 t = temperature[from], p = pressure[from], m = mixing[from];
  const __half2 low = __floats2half2_rn(lacking(t.x, p.x, m.x), lacking(t.y, p.y, m.y));
  const __half2 high = __floats2half2_rn(lacking(t.z, p.z, m.z), lacking(t.w, p.w, m.w));
  deficit[i] = make_uint2(*reinterpret_cast<const unsigned*>(&low),
                          *reinterpret_cast<const unsigned*>(&high));
}
extern "C" void solve(const float* temperature, const float* pressure, const float* mixing,
                      __half* deficit, int cells) {
  find_deficit<<<(cells / 4 + 255) / 256, 256>>>(
      reinterpret_cast<const float4*>(temperature), reinterpret_cast<const float4*>(pressure),
      reinterpret_cast<const float4*>(mixing), reinterpret_cast<uint2*>(deficit), cells / 4);
}
