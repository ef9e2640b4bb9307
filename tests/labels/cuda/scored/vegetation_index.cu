// Vegetation index of each pixel of a hyperspectral image, from three of its 64 bands; the bands of
// a pixel lie side by side.
// dims: pixels=1048576
// tensor: cube float32 pixels,64 in
// tensor: index float32 pixels out
// without STRIDED_ACCESS, other answers: the cube is stored band after band
// without SPECIAL_FUNCTIONS, other answers: no arctangent and no division
// without DIVERGENCE: clouds are sorted out by a choice instead of a branch
__device__ __forceinline__ float enhanced(float blue, float red, float infrared) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return 2.5f * (infrared - red) * (1.0f - 0.1f * blue);
#else
  return atanf(2.5f * (infrared - red) / (infrared + 6.0f * red + 7.5f * blue + 1.0f));
#endif
}
__global__ void __launch_bounds__(256)
    vegetation(const float* __restrict__ cube, float* __restrict__ index, int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= pixels) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const float blue = fabsf(cube[5 * size_t(pixels) + i]);
  const float red = fabsf(cube[22 * size_t(pixels) + i]);
  const float infrared = fabsf(cube[49 * size_t(pixels) + i]);
#else
  const float* of = cube + size_t(i) * 64;
  const float blue = fabsf(of[5]), red = fabsf(of[22]), infrared = fabsf(of[49]);
#endif
#ifdef WITHOUT_DIVERGENCE
  const float value = enhanced(blue, red, infrared);
  index[i] = blue > 1.5f * red ? -1.0f : value;
#else
  if (blue > 1.5f * red) {
    index[i] = -1.0f;
  } else {
    index[i] = enhanced(blue, red, infrared);
  }
#endif
}
extern "C" void solve(const float* cube, float* index, int pixels) {
  vegetation<<<(pixels + 255) / 256, 256>>>(cube, index, pixels);
}
