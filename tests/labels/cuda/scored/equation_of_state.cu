// Pressures in the cells of a multimaterial hydrodynamics code. Each of eight materials has its
// own equation of state, some of which are solved by iteration; a cell has one material.
// dims: cells=2097152
// tensor: density float32 cells in
// tensor: energy float32 cells in
// tensor: material int32 cells in
// tensor: pressure float32 cells out
// without DIVERGENCE, other answers: the 32 cells of a warp have the same material
// without SPECIAL_FUNCTIONS, other answers: no exponential functions, roots, and divisions
// without BYTES, other answers: the first 4096 cells are read again and again
#ifdef WITHOUT_SPECIAL_FUNCTIONS
__device__ __forceinline__ float exponential(float x) {
  return 1.0f + x * (1.0f + 0.5f * x);
}
__device__ __forceinline__ float root(float x) {
  return 0.25f + 0.8f * x - 0.05f * x * x;
}
__device__ __forceinline__ float inverse(float x) {
  return 1.9f - x * (1.0f - 0.1f * x);
}
#else
__device__ __forceinline__ float exponential(float x) {
  return __expf(x);
}
__device__ __forceinline__ float root(float x) {
  return __fsqrt_rn(x);
}
__device__ __forceinline__ float inverse(float x) {
  return __fdividef(1.0f, x);
}
#endif
__device__ __noinline__ float pressure_of(int kind, float d, float e) {
  float p = d * e * 0.4f;
  switch (kind) {
    case 0:
#pragma unroll 1
      for (int k = 0; k < 20; ++k) p = 0.4f * d * e + 0.05f * p * p * (0.3f - 0.01f * p) * 0.2f;
      break;
    case 1:
#pragma unroll 1
      for (int k = 0; k < 14; ++k) p = 0.5f * p + 0.2f * d * root(1.0f + 0.1f * p * p) - 0.01f * e;
      break;
    case 2:
#pragma unroll 1
      for (int k = 0; k < 12; ++k) p = e * exponential(-0.2f * d - 0.05f * fabsf(p)) + 0.1f * d;
      break;
    case 3:
#pragma unroll 1
      for (int k = 0; k < 12; ++k) p = (d + 0.3f * e) * inverse(1.5f + 0.1f * p * p) + 0.2f;
      break;
    case 4:
#pragma unroll 1
      for (int k = 0; k < 24; ++k) p = 0.7f * p + 0.1f * d - 0.02f * p * fminf(e, 3.0f) + 0.05f;
      break;
    case 5:
#pragma unroll 1
      for (int k = 0; k < 10; ++k)
        p = 0.6f * root(d + 0.1f * fabsf(p)) + 0.2f * e * exponential(-0.3f * d);
      break;
    case 6:
#pragma unroll 1
      for (int k = 0; k < 20; ++k) p = fmaxf(0.4f * p + 0.3f * d * e - 0.1f, 0.05f * d) * 0.9f;
      break;
    default:
#pragma unroll 1
      for (int k = 0; k < 16; ++k) p = 0.8f * p - 0.1f * (p - d) * (0.5f + 0.01f * e) + 0.01f * e;
      break;
  }
  return p;
}
__global__ void __launch_bounds__(256)
    pressures(const float* __restrict__ density, const float* __restrict__ energy,
              const int* __restrict__ material, float* __restrict__ pressure, int cells) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= cells) return;
#ifdef WITHOUT_BYTES
  const int from = i & 4095;
#else
  const int from = i;
#endif
  int kind = material[from] & 7;
#ifdef WITHOUT_DIVERGENCE
  kind = __shfl_sync(__activemask(), kind, 0);
#endif
  const float d = 0.5f + fminf(fabsf(density[from]), 3.0f);
  const float e = fminf(fabsf(energy[from]), 3.0f);
  pressure[i] = pressure_of(kind, d, e);
}
extern "C" void solve(const float* density, const float* energy, const int* material,
                      float* pressure, int cells) {
  pressures<<<(cells + 255) / 256, 256>>>(density, energy, material, pressure, cells);
}
