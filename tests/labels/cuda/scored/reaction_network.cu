// Chemistry of a flame: 128 small steps of twelve species through 48 reactions each, as a generator
// wrote them, one after the other without a loop. A thread per cell.
// dims: cells=67584
// tensor: before float32 12,cells in
// tensor: after float32 12,cells out
// without INSTRUCTION_FETCH: a loop over the steps, all of which have the same code
// without SPECIAL_FUNCTIONS, other answers: the temperature enters without an exponential
// without BYTES, other answers: all cells start as the first thousand do
__device__ __forceinline__ float bounded(float x) {
  return fminf(fmaxf(x, 0.0f), 1.0f);
}

__global__ void __launch_bounds__(256)
    react(const float* __restrict__ before, float* __restrict__ after, int cells) {
  const int cell = blockIdx.x * 256 + threadIdx.x;
  if (cell >= cells) return;
  constexpr int kSpecies = 12;
  float s[kSpecies];
#ifdef WITHOUT_BYTES
  const int start = cell & 1023;
#else
  const int start = cell;
#endif
#pragma unroll
  for (int k = 0; k < kSpecies; ++k) s[k] = bounded(fabsf(before[size_t(k) * cells + start]));
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float heat = 1.0f - 0.1f * s[0];
#else
  const float heat = __expf(-0.1f * s[0]);
#endif
#ifdef WITHOUT_INSTRUCTION_FETCH
#pragma unroll 1
#else
#pragma unroll
#endif
  for (int step = 0; step < 128; ++step) {
    float change[kSpecies] = {};
#pragma unroll
    for (int r = 0; r < 48; ++r) {
      const int from = r % kSpecies, with = (r * 5 + r / 12 + 1) % kSpecies;
      const int to = (r * 7 + 3) % kSpecies;
      const float rate = 1e-3f * (1 + (r * 37) % 11);
      change[to] = __fmaf_rn(__fmul_rn(s[from], s[with]), rate, change[to]);
      change[from] = __fmaf_rn(s[from], -0.5f * rate, change[from]);
    }
#pragma unroll
    for (int k = 0; k < kSpecies; ++k) s[k] = bounded(__fmaf_rn(change[k], heat, s[k]));
  }
#pragma unroll
  for (int k = 0; k < kSpecies; ++k) after[size_t(k) * cells + cell] = s[k];
}
extern "C" void solve(const float* before, float* after, int cells) {
  react<<<(cells + 255) / 256, 256>>>(before, after, cells);
}
