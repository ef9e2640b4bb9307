// Entropy of the gray levels of image patches of 256 pixels, a measure of their texture. A thread
// counts the 128 levels of its patch; four pixels lie in a word.
// dims: patches=131072
// tensor: words uint32 64,patches in
// tensor: entropy float32 patches out
// without LOCAL_MEMORY: a thread has its counts, of 16 bits, in shared memory
// without SPECIAL_FUNCTIONS, other answers: the sum of squares, without logarithms
// without DIVERGENCE: empty levels are sorted out by a choice instead of a branch
__global__ void __launch_bounds__(128)
    texture(const unsigned* __restrict__ words, float* __restrict__ entropy, int patches) {
  const int i = blockIdx.x * 128 + threadIdx.x;
#ifdef WITHOUT_LOCAL_MEMORY
  __shared__ unsigned short counts[128 * 128];
#define COUNT(LEVEL) counts[(LEVEL) * 128 + threadIdx.x]
#else
  int counts[128];
#define COUNT(LEVEL) counts[LEVEL]
#endif
  if (i >= patches) return;
#pragma unroll 4
  for (int level = 0; level < 128; ++level) COUNT(level) = 0;
#pragma unroll 4
  for (int k = 0; k < 64; ++k) {
    const unsigned four = words[size_t(k) * patches + i];
#pragma unroll
    for (int p = 0; p < 4; ++p) ++COUNT(four >> 8 * p & 127);
  }
  float sum = 0.0f;
#pragma unroll 4
  for (int level = 0; level < 128; ++level) {
    const float share = COUNT(level) * (1.0f / 256.0f);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float part = share * share;
#else
    const float part = share * __log2f(share + 1e-9f);
#endif
#ifdef WITHOUT_DIVERGENCE
    sum -= share > 0.0f ? part : 0.0f;
#else
    if (share > 0.0f) sum -= part;
#endif
  }
  entropy[i] = sum;
}
extern "C" void solve(const unsigned* words, float* entropy, int patches) {
  texture<<<(patches + 127) / 128, 128>>>(words, entropy, patches);
}
