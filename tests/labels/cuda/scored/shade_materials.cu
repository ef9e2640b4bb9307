// Shades the pixels of a deferred renderer, each by the formula of its material.
// dims: pixels=1048576
// tensor: materials uint8 pixels in
// tensor: cosines float32 pixels in
// tensor: depths float32 pixels in
// tensor: shades float32 pixels out
// without DIVERGENCE, other answers: 32 neighbors are of one material
// without BYTES, other answers: cosines and depths are those of the first 4096 pixels
// without SPECIAL_FUNCTIONS, other answers: fog grows linearly with depth
template <int kMaterial>
__device__ float shade(float cosine, float depth) {
  constexpr float kBase = 0.05f + 0.11f * kMaterial;
  float light = cosine, layer = kBase;
#pragma unroll 4
  for (int k = 0; k < 48; ++k) {
    light = fmaf(light, 0.6f - 0.05f * kMaterial, layer);
    if constexpr (kMaterial & 1) light = fmaf(light * 0.3f, depth, kBase);
    if constexpr (kMaterial & 2) light = fminf(fabsf(light), 1.5f);
    if constexpr (kMaterial & 4) layer = fmaf(layer, -0.4f, light * 0.2f);
    if constexpr (!(kMaterial & 1)) layer = fmaf(layer, 0.5f, depth);
    light = fmaxf(fminf(light, 4.0f), -4.0f);
  }
  return light + layer;
}
__global__ void __launch_bounds__(256)
    shade_pixels(const unsigned char* __restrict__ materials, const float* __restrict__ cosines,
                 const float* __restrict__ depths, float* __restrict__ shades, int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= pixels) return;
#ifdef WITHOUT_BYTES
  const int from = i & 4095;
#else
  const int from = i;
#endif
#ifdef WITHOUT_DIVERGENCE
  const int material = materials[i & ~31] & 7;
#else
  const int material = materials[i] & 7;
#endif
  const float cosine = cosines[from], depth = fminf(fabsf(depths[from]), 2.0f);
  float light;
  switch (material) {
    case 0:
      light = shade<0>(cosine, depth);
      break;
    case 1:
      light = shade<1>(cosine, depth);
      break;
    case 2:
      light = shade<2>(cosine, depth);
      break;
    case 3:
      light = shade<3>(cosine, depth);
      break;
    case 4:
      light = shade<4>(cosine, depth);
      break;
    case 5:
      light = shade<5>(cosine, depth);
      break;
    case 6:
      light = shade<6>(cosine, depth);
      break;
    default:
      light = shade<7>(cosine, depth);
  }
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  shades[i] = light * fmaf(-0.4f, depth, 1.0f);
#else
  shades[i] = light * __expf(-depth);
#endif
}
extern "C" void solve(const unsigned char* materials, const float* cosines, const float* depths,
                      float* shades, int pixels) {
  shade_pixels<<<(pixels + 255) / 256, 256>>>(materials, cosines, depths, shades, pixels);
}
