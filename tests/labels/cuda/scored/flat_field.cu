// Corrects camera pixels: subtracts the dark frame, applies the flat field's gain, then a gamma
// curve.
// dims: pixels=8388608
// tensor: raw float32 pixels in
// tensor: dark float32 pixels in
// tensor: gain float32 pixels in
// tensor: corrected float32 pixels out
// floor BYTES, other answers: the three frames are read and their sum is written
// without SPECIAL_FUNCTIONS, other answers: the curve is a parabola
// without DIVERGENCE: both parts of the curve are evaluated, and one is selected
[[maybe_unused]] constexpr float kToe = 0.05f;
[[maybe_unused]] __device__ float curve(float v) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return fmaf(v, fmaf(-0.25f, v, 1.2f), 0.05f);
#else
  return fmaf(1.055f, __powf(v, 1.0f / 2.4f), -0.055f);
#endif
}
__device__ float correct(float raw, float dark, float gain) {
#ifdef WITHOUT_BYTES
  return raw + dark + gain;
#else
  const float v = (raw - 0.1f * dark) * fmaf(0.1f, gain, 1.0f);
#ifdef WITHOUT_DIVERGENCE
  const float bright = curve(fmaxf(v, kToe)), linear = 4.0f * v;
  return v < kToe ? linear : bright;
#else
  if (v < kToe) return 4.0f * v;
  return curve(v);
#endif
#endif
}
__global__ void __launch_bounds__(256)
    correct_pixels(const float4* __restrict__ raw, const float4* __restrict__ dark,
                   const float4* __restrict__ gain, float4* __restrict__ corrected, int quads) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= quads) return;
  const float4 r = raw[i], d = dark[i], g = gain[i];
  corrected[i] = make_float4(correct(r.x, d.x, g.x), correct(r.y, d.y, g.y), correct(r.z, d.z, g.z),
                             correct(r.w, d.w, g.w));
}
extern "C" void solve(const float* raw, const float* dark, const float* gain, float* corrected,
                      int pixels) {
  const int quads = pixels / 4;
  correct_pixels<<<(quads + 255) / 256, 256>>>(
      reinterpret_cast<const float4*>(raw), reinterpret_cast<const float4*>(dark),
      reinterpret_cast<const float4*>(gain), reinterpret_cast<float4*>(corrected), quads);
}
