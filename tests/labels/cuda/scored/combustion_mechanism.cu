// Advances the eight species of a reduced combustion mechanism by a step in each cell. The
// mechanism has 4096 elementary reactions; their rate constants follow from a generator.
// dims: cells=67584 seed=12345
// tensor: before float32 8,cells in
// tensor: after float32 8,cells out
// without INSTRUCTION_FETCH: eight reactions are a turn of a loop instead of code of their own
// without ARITHMETIC, other answers: the rate of a reaction depends on one species only
// without BYTES, other answers: all blocks have the first 256 cells
constexpr int kReactions = 4096;
__device__ __forceinline__ void react(float (&amount)[8], int k, unsigned& state) {
  state = state * 1664525u + 1013904223u;
  const float constant = __uint_as_float(0x3a800000u | state >> 9);
#ifdef WITHOUT_ARITHMETIC
  amount[k] -= constant * amount[(k + 3) % 8];
#else
  const float rate = constant * amount[k] * amount[(k + 3) % 8];
  amount[k] -= rate;
  amount[(k + 1) % 8] += rate;
  amount[(k + 3) % 8] -= 0.5f * rate;
  amount[(k + 6) % 8] += 0.5f * rate;
#endif
}
__device__ __forceinline__ void half_of_all(float (&amount)[8], unsigned& state) {
#ifdef WITHOUT_INSTRUCTION_FETCH
#pragma unroll 1
#else
#pragma unroll
#endif
  for (int turn = 0; turn < kReactions / 16; ++turn) {
#pragma unroll
    for (int k = 0; k < 8; ++k) react(amount, k, state);
  }
}
__global__ void __launch_bounds__(256)
    burn(const float* __restrict__ before, float* __restrict__ after, int cells, int seed) {
  const int i = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_BYTES
  const int from = threadIdx.x;
#else
  const int from = i;
#endif
  float amount[8];
#pragma unroll
  for (int s = 0; s < 8; ++s) amount[s] = fminf(fabsf(before[s * cells + from]), 3.0f) * 0.1f;
  unsigned state = seed;
  half_of_all(amount, state);
  half_of_all(amount, state);
#pragma unroll
  for (int s = 0; s < 8; ++s) after[s * cells + i] = amount[s];
}
extern "C" void solve(const float* before, float* after, int cells, int seed) {
  burn<<<cells / 256, 256>>>(before, after, cells, seed);
}
