// Cogging torque of a motor at each rotor angle: a Fourier series of 32 harmonics.
// dims: samples=4194304
// tensor: angle float32 samples in
// tensor: series float32 64 in
// tensor: torque float32 samples out
// without SPECIAL_FUNCTIONS: a harmonic's sine and cosine come from those of the one before
// without DEPENDENCE: the harmonics are added to four sums in turn
// without BYTES, other answers: all blocks read the first angles
#include <cuda_runtime.h>
constexpr int kHarmonics = 32;
#ifdef WITHOUT_DEPENDENCE
constexpr int kSums = 4;
#else
constexpr int kSums = 1;
#endif

__global__ void __launch_bounds__(256)
    evaluate_series(const float* __restrict__ angle, const float* __restrict__ series,
                    float* __restrict__ torque, int samples) {
  __shared__ float2 terms[kHarmonics];
  if (threadIdx.x < kHarmonics)
    terms[threadIdx.x] = make_float2(series[2 * threadIdx.x], series[2 * threadIdx.x + 1]);
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= samples) return;
#ifdef WITHOUT_BYTES
  const float a = angle[threadIdx.x] + 1e-7f * blockIdx.x;
#else
  const float a = angle[i];
#endif
  float sum[kSums] = {};
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float s1 = __sinf(a), c1 = __cosf(a);
  float s = s1, c = c1;
#endif
#pragma unroll
  for (int k = 0; k < kHarmonics; ++k) {
    const float2 term = terms[k];
#ifndef WITHOUT_SPECIAL_FUNCTIONS
    const float s = __sinf((k + 1) * a), c = __cosf((k + 1) * a);
#endif
    sum[k % kSums] += term.x * s;
    sum[k % kSums] += term.y * c;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float next = s * c1 + c * s1;
    c = c * c1 - s * s1;
    s = next;
#endif
  }
  float total = sum[0];
#pragma unroll
  for (int k = 1; k < kSums; ++k) total += sum[k];
  torque[i] = total;
}

extern "C" void solve(const float* angle, const float* series, float* torque, int samples) {
  evaluate_series<<<(samples + 255) / 256, 256>>>(angle, series, torque, samples);
}
