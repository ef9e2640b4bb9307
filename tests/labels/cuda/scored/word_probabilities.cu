// Probabilities of the next word for a single request: one block fetches the logits one by one
// and waits for each.
// dims: words=32768
// tensor: logit float32 words in
// tensor: probability float32 words out
// without SERIAL_LOADS: eight logits are fetched before the first is used
// floor LAUNCHES, other answers: a kernel that does nothing
// without BANK_CONFLICTS: the partial results of the warps are padded
#ifdef WITHOUT_SERIAL_LOADS
constexpr int AHEAD = 8;
#else
constexpr int AHEAD = 1;
#endif
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int GAP = 2;
#else
constexpr int GAP = 1;
#endif
template <class F>
__device__ __forceinline__ float all(float v, float* partial, F join) {
  for (int lanes = 16; lanes; lanes /= 2) v = join(v, __shfl_xor_sync(~0u, v, lanes));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32 * GAP] = v;
  __syncthreads();
  v = partial[threadIdx.x % 32 * GAP];
  for (int lanes = 16; lanes; lanes /= 2) v = join(v, __shfl_xor_sync(~0u, v, lanes));
  return v;
}
template <class F>
__device__ __forceinline__ void each(const float* __restrict__ logit, int words, F use) {
#pragma unroll 1
  for (int first = threadIdx.x; first < words; first += 1024 * AHEAD) {
    float v[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; ++a)
      v[a] = first + 1024 * a < words ? logit[first + 1024 * a] : 0.0f;
#pragma unroll
    for (int a = 0; a < AHEAD; ++a)
      if (first + 1024 * a < words) use(first + 1024 * a, v[a]);
  }
}
__global__ void __launch_bounds__(1024)
    softmax(const float* __restrict__ logit, float* __restrict__ probability, int words) {
#ifdef WITHOUT_LAUNCHES
  if (words > 0) return;
#endif
  __shared__ float partial[2][32 * GAP];
  float most = -INFINITY, sum = 0;
  each(logit, words, [&](int, float v) { most = fmaxf(most, v); });
  most = all(most, partial[0], [](float a, float b) { return fmaxf(a, b); });
  each(logit, words, [&](int, float v) { sum += __expf(v - most); });
  const float factor = 1.0f / all(sum, partial[1], [](float a, float b) { return a + b; });
  each(logit, words, [&](int i, float v) { probability[i] = __expf(v - most) * factor; });
}
extern "C" void solve(const float* logit, float* probability, int words) {
  softmax<<<1, 1024>>>(logit, probability, words);
}
