// Crystallography: the structure factor of each reflection, the sum over 512 atoms of a sine and a
// cosine of the phase.
// dims: reflections=262144
// tensor: miller float32 reflections,4 in
// tensor: atoms float32 512,4 in
// tensor: factor float32 reflections,2 out
// without SPECIAL_FUNCTIONS, other answers: parabolas in place of sine and cosine
// without SHARED_TRAFFIC, other answers: the atoms are made from their number, not fetched
// without LOW_OCCUPANCY: blocks of 256 threads instead of 64
#ifdef WITHOUT_LOW_OCCUPANCY
constexpr int kThreads = 256;
#else
constexpr int kThreads = 64;
#endif
__global__ void __launch_bounds__(kThreads)
    factors(const float4* __restrict__ miller, const float4* __restrict__ atoms,
            float2* __restrict__ factor, int reflections) {
#ifndef WITHOUT_SHARED_TRAFFIC
  __shared__ float4 atom[512];
  for (int k = threadIdx.x; k < 512; k += kThreads) atom[k] = atoms[k];
  __syncthreads();
#endif
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= reflections) return;
  const float4 h = miller[i];
  float real = 0, imaginary = 0;
#ifdef WITHOUT_SHARED_TRAFFIC
  float number = 0;
#endif
#pragma unroll 8
  for (int k = 0; k < 512; ++k) {
#ifdef WITHOUT_SHARED_TRAFFIC
    const float4 a = {number * 0.01f, 1.0f - number * 0.02f, number, 0.5f + number * 1e-3f};
    number += 1;
#else
    const float4 a = atom[k];
#endif
    const float phase = h.x * a.x + h.y * a.y + h.z * a.z;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    real += a.w * (1.0f - 0.5f * phase * phase);
    imaginary += a.w * (phase - 0.1f * phase * phase);
#else
    real += a.w * __cosf(phase);
    imaginary += a.w * __sinf(phase);
#endif
  }
  factor[i] = {real, imaginary};
}
extern "C" void solve(const float* miller, const float* atoms, float* factor, int reflections) {
  factors<<<(reflections + kThreads - 1) / kThreads, kThreads>>>(
      (const float4*)miller, (const float4*)atoms, (float2*)factor, reflections);
}
