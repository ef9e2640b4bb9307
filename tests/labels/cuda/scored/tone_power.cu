// Power of each channel's signal at some tones: a phasor per tone turns along the samples.
// dims: channels=2048 tones=128 samples=512
// tensor: signals float32 channels*samples in
// tensor: frequencies float32 tones in
// tensor: power float32 channels*tones out
// without DOUBLE_PRECISION: phasor and sums are floats
// without DEPENDENCE: two phasors, of even and odd samples, turn by two steps each
// without BYTES, other answers: all channels have the signal of the first
#ifdef WITHOUT_DOUBLE_PRECISION
using Real = float;
#else
using Real = double;
#endif
constexpr int kMost = 512;  // samples
struct Phasor {
  Real re, im;
};
__device__ Phasor turned(Phasor a, Phasor b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__global__ void __launch_bounds__(128)
    measure_tones(const float* __restrict__ signals, const float* __restrict__ frequencies,
                  float* __restrict__ power, int tones, int samples) {
  __shared__ __align__(16) float signal[kMost];
#ifdef WITHOUT_BYTES
  const float* own = signals;
#else
  const float* own = signals + size_t(blockIdx.x) * samples;
#endif
  for (int k = threadIdx.x; k < samples; k += 128) signal[k] = own[k];
  __syncthreads();
  for (int tone = threadIdx.x; tone < tones; tone += 128) {
    float sine, cosine;
    sincosf(0.4f * frequencies[tone], &sine, &cosine);
    const Phasor step = {cosine, sine};
    Real re = 0, im = 0;
#ifdef WITHOUT_DEPENDENCE
    const Phasor two = turned(step, step);
    Phasor even = {1, 0}, odd = step;
    Real odd_re = 0, odd_im = 0;
#pragma unroll 4
    for (int k = 0; k < samples; k += 2) {
      const Real x = signal[k], next = signal[k + 1];
      re += x * even.re;
      im += x * even.im;
      odd_re += next * odd.re;
      odd_im += next * odd.im;
      even = turned(even, two);
      odd = turned(odd, two);
    }
    re += odd_re;
    im += odd_im;
#else
    Phasor now = {1, 0};
#pragma unroll 8
    for (int k = 0; k < samples; ++k) {
      const Real x = signal[k];
      re += x * now.re;
      im += x * now.im;
      now = turned(now, step);
    }
#endif
    power[size_t(blockIdx.x) * tones + tone] = float((re * re + im * im) / Real(samples));
  }
}
extern "C" void solve(const float* signals, const float* frequencies, float* power, int channels,
                      int tones, int samples) {
  if (samples > kMost || samples % 2) return;
  measure_tones<<<channels, 128>>>(signals, frequencies, power, tones, samples);
}
