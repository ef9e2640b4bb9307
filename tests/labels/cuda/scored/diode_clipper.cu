// A distortion pedal: the implicit equation of its diodes, solved for each sample by six Newton
// steps from the state that the sample before left, a thread a voice.
// dims: voices=16384 samples=256
// tensor: input float32 samples,voices in
// tensor: output float32 samples,voices out
// without DEPENDENCE, other answers: four quarters of the samples start on their own, a step of each in turn
// without FEW_BLOCKS: blocks of one warp, so that all multiprocessors have some
// without BYTES, other answers: all warps read the voices of the first
#include <cuda_pipeline.h>
#ifdef WITHOUT_DEPENDENCE
constexpr int kParts = 4, kBatch = 4;
#else
constexpr int kParts = 1, kBatch = 8;
#endif
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kThreads = 32;
#else
constexpr int kThreads = 128;
#endif
using Batch = float[kParts][kBatch][kThreads];
// Each thread copies the samples that it will read itself.
__device__ void copy(Batch& to, const float* from, int first, int each, int voices) {
#pragma unroll
  for (int p = 0; p < kParts; ++p)
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      __pipeline_memcpy_async(&to[p][b][threadIdx.x], from + size_t(p * each + first + b) * voices,
                              4);
}
__global__ void __launch_bounds__(kThreads)
    clip(const float* __restrict__ input, float* __restrict__ output, int voices, int samples) {
  __shared__ Batch batches[2];
  const int voice = blockIdx.x * kThreads + threadIdx.x, each = samples / kParts;
#ifdef WITHOUT_BYTES
  const float* from = input + threadIdx.x % 32;
#else
  const float* from = input + voice;
#endif
  float state[kParts] = {};
  copy(batches[0], from, 0, each, voices);
  __pipeline_commit();
#pragma unroll 1
  for (int first = 0; first < each; first += kBatch) {
    const int now = first / kBatch % 2;
    if (first + kBatch < each) copy(batches[1 - now], from, first + kBatch, each, voices);
    __pipeline_commit();
    __pipeline_wait_prior(1);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      float known[kParts];
#pragma unroll
      for (int p = 0; p < kParts; ++p) known[p] = 0.6f * state[p] + batches[now][p][b][threadIdx.x];
#pragma unroll
      for (int step = 0; step < 6; ++step)
#pragma unroll
        for (int p = 0; p < kParts; ++p) {  // of x + 0.4 x^3 = known
          const float x = state[p], xx = x * x;
          state[p] = __fdividef(known[p] + 0.8f * x * xx, 1 + 1.2f * xx);
        }
#pragma unroll
      for (int p = 0; p < kParts; ++p)
        output[size_t(p * each + first + b) * voices + voice] = 0.7f * state[p];
    }
  }
}
extern "C" void solve(const float* input, float* output, int voices, int samples) {
  clip<<<voices / kThreads, kThreads>>>(input, output, voices, samples);
}
