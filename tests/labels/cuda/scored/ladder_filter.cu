// A saturating four-stage ladder filter on many channels: each sample waits for the feedback of
// the one before.
// dims: samples=2048 channels=8448
// tensor: x float32 samples,channels in
// tensor: y float32 samples,channels out
// without DEPENDENCE, other answers: every stage takes what the stage before it held one sample ago
// without FEW_BLOCKS: four times as many blocks of a quarter of the threads
// without BYTES, other answers: the output of a sample in four is written
#ifdef WITHOUT_FEW_BLOCKS
constexpr int THREADS = 32;
#else
constexpr int THREADS = 128;
#endif
__device__ __forceinline__ float bend(float v) {
  float t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(v));
  return t;
}
__global__ void __launch_bounds__(THREADS)
    ladder(const float* __restrict__ x, float* __restrict__ y, int samples, int channels) {
  const int channel = blockIdx.x * THREADS + threadIdx.x;
  if (channel >= channels) return;
  constexpr int GROUP = 16;
  float ahead[GROUP], s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  x += channel;
  y += channel;
  auto fetch = [&](int first) {
#pragma unroll
    for (int k = 0; k < GROUP; ++k) {
      ahead[k] = first + k < samples ? *x : 0.0f;
      x += channels;
    }
  };
  fetch(0);
  for (int first = 0; first < samples; first += GROUP) {
    float now[GROUP];
#pragma unroll
    for (int k = 0; k < GROUP; ++k) now[k] = ahead[k];
    fetch(first + GROUP);
#pragma unroll
    for (int k = 0; k < GROUP; ++k) {
      const float p0 = s0, p1 = s1, p2 = s2, p3 = s3;
      s0 = p0 + 0.3f * bend(now[k] - 1.5f * p3 - p0);
#ifdef WITHOUT_DEPENDENCE
      s1 = p1 + 0.3f * bend(p0 - p1);
      s2 = p2 + 0.3f * bend(p1 - p2);
      s3 = p3 + 0.3f * bend(p2 - p3);
#else
      s1 = p1 + 0.3f * bend(s0 - p1);
      s2 = p2 + 0.3f * bend(s1 - p2);
      s3 = p3 + 0.3f * bend(s2 - p3);
#endif
#ifdef WITHOUT_BYTES
      if (k % 4 == 3)
#endif
        if (first + k < samples) *y = s3;
      y += channels;
    }
  }
}
extern "C" void solve(const float* x, float* y, int samples, int channels) {
  ladder<<<(channels + THREADS - 1) / THREADS, THREADS>>>(x, y, samples, channels);
}
