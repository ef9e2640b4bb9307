// Tone mapping with a repair of broken samples that hardly ever happens but takes most of the
// registers.
// dims: n=16777216
// tensor: x float32 n in
// tensor: y float32 n out
// tensor: repaired int32 1 out
// without LOW_OCCUPANCY: registers are limited, so eight blocks fit; the repair would spill
// without GLOBAL_ATOMICS: repairs are not counted
#ifdef WITHOUT_LOW_OCCUPANCY
#define BOUNDS __launch_bounds__(256, 8)
#else
#define BOUNDS __launch_bounds__(256)
#endif
constexpr int WINDOW = 176;
__device__ __forceinline__ float smoothed(const float* __restrict__ x, int i, int n) {
  float w[WINDOW];
#pragma unroll
  for (int k = 0; k < WINDOW; ++k)
    w[k] = fminf(64.0f, fmaxf(-64.0f, x[min(max(i + k - WINDOW / 2, 0), n - 1)]));
#pragma unroll 1
  for (int pass = 0; pass < 8; ++pass)
#pragma unroll
    for (int k = 0; k < WINDOW; ++k)
      w[k] = 0.6f * w[k] + 0.2f * (w[(k + 1) % WINDOW] + w[(k + WINDOW - 1) % WINDOW]);
  return w[WINDOW / 2];
}
__global__ void BOUNDS tone(const float* __restrict__ x, float* __restrict__ y,
                            int* __restrict__ repaired, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    float v = x[i];
    if (!(fabsf(v) < 64.0f)) {
      v = smoothed(x, i, n);
#ifndef WITHOUT_GLOBAL_ATOMICS
      atomicAdd(repaired, 1);
#endif
    }
    y[i] = v * (0.5f + 0.25f * v - 0.02f * v * v);
  }
}
extern "C" void solve(const float* x, float* y, int* repaired, int n) {
  cudaMemsetAsync(repaired, 0, sizeof(int));
  tone<<<132 * 8, 256>>>(x, y, repaired, n);
}
