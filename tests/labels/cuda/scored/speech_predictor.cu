// Linear prediction of speech: Levinson's recursion turns the sixteen autocorrelations of a frame
// into fifteen coefficients. A thread per frame, its numbers in 32 words of shared memory.
// dims: frames=131072
// tensor: correlation float32 frames,16 in
// tensor: coefficient float32 frames,16 out
// without BANK_CONFLICTS: the numbers of a thread take 33 words, so lanes are in different banks
// without SPECIAL_FUNCTIONS, other answers: multiplies by a guess instead of dividing by the error
// without STRIDED_ACCESS, other answers: autocorrelation k of all frames lies together
__global__ void __launch_bounds__(128)
    levinson(const float* __restrict__ correlation, float* __restrict__ coefficient, int frames) {
#ifdef WITHOUT_BANK_CONFLICTS
  constexpr int kWords = 33;
#else
  constexpr int kWords = 32;
#endif
  __shared__ float numbers[128 * kWords];
  const int frame = blockIdx.x * 128 + threadIdx.x;
  if (frame >= frames) return;
  float* r = numbers + threadIdx.x * kWords;
  float* a = r + 16;
  float total = 1;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#ifdef WITHOUT_STRIDED_ACCESS
    const float4 four = reinterpret_cast<const float4*>(correlation)[size_t(k) * frames + frame];
#else
    const float4 four = reinterpret_cast<const float4*>(correlation)[size_t(frame) * 4 + k];
#endif
    r[4 * k] = four.x;
    r[4 * k + 1] = four.y;
    r[4 * k + 2] = four.z;
    r[4 * k + 3] = four.w;
    total += fabsf(four.x) + fabsf(four.y) + fabsf(four.z) + fabsf(four.w);
  }
  float error = total;  // more than the sum of all others, so that the error stays positive
  a[0] = 1;
#pragma unroll 1
  for (int i = 1; i < 16; ++i) {
    float sum = r[i];
#pragma unroll 1
    for (int j = 1; j < i; ++j) sum += a[j] * r[i - j];
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float k = sum * (0.02f - 1e-4f * error);
#else
    const float k = -sum / error;
#endif
#pragma unroll 1
    for (int j = 1; j <= i / 2; ++j) {
      const float x = a[j], y = a[i - j];
      a[j] = x + k * y;
      a[i - j] = y + k * x;
    }
    a[i] = k;
    error *= 1.0f - k * k;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4 four = {a[4 * k], a[4 * k + 1], a[4 * k + 2], a[4 * k + 3]};
#ifdef WITHOUT_STRIDED_ACCESS
    reinterpret_cast<float4*>(coefficient)[size_t(k) * frames + frame] = four;
#else
    reinterpret_cast<float4*>(coefficient)[size_t(frame) * 4 + k] = four;
#endif
  }
}
extern "C" void solve(const float* correlation, float* coefficient, int frames) {
  levinson<<<(frames + 127) / 128, 128>>>(correlation, coefficient, frames);
}
