// Turns linear RGB pixels into the perceptual space Oklab: two small matrices and three cube roots
// per pixel. The constants are written without an f.
// dims: pixels=4194304
// tensor: rgb float32 pixels,3 in
// tensor: lab float32 pixels,3 out
// without DOUBLE_PRECISION: the constants are floats
// without SPECIAL_FUNCTIONS, other answers: parabolas in place of the cube roots
// without STRIDED_ACCESS, other answers: red, green and blue are three planes
#ifdef WITHOUT_DOUBLE_PRECISION
#define C(x) x##f
#else
#define C(x) x
#endif
template <class T>
__device__ __forceinline__ T root(T x) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return x * (C(1.4) - C(0.3) * x);
#else
  return cbrt(x);
#endif
}
__global__ void __launch_bounds__(256)
    oklab(const float* __restrict__ rgb, float* __restrict__ lab, int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= pixels) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const int at[3] = {i, pixels + i, 2 * pixels + i};
#else
  const int at[3] = {3 * i, 3 * i + 1, 3 * i + 2};
#endif
  const float r = fabsf(rgb[at[0]]), g = fabsf(rgb[at[1]]), b = fabsf(rgb[at[2]]);
  const auto l = root(C(0.4122214708) * r + C(0.5363325363) * g + C(0.0514459929) * b + C(1e-4));
  const auto m = root(C(0.2119034982) * r + C(0.6806995451) * g + C(0.1073969566) * b + C(1e-4));
  const auto s = root(C(0.0883024619) * r + C(0.2817188376) * g + C(0.6299787005) * b + C(1e-4));
  lab[at[0]] = C(0.2104542553) * l + C(0.7936177850) * m - C(0.0040720468) * s;
  lab[at[1]] = C(1.9779984951) * l - C(2.4285922050) * m + C(0.4505937099) * s;
  lab[at[2]] = C(0.0259040371) * l + C(0.7827717662) * m - C(0.8086757660) * s;
}
extern "C" void solve(const float* rgb, float* lab, int pixels) {
  oklab<<<(pixels + 255) / 256, 256>>>(rgb, lab, pixels);
}
