// Scores samples with a forest of binary trees; a thread walks its trees one after the other,
// each step waiting for the last.
// dims: samples=8448 trees=64
// tensor: feature float32 16,samples in
// tensor: split uint8 trees,4096 in
// tensor: threshold float32 trees,4096 in
// tensor: leaf float32 trees,4096 in
// tensor: score float32 samples out
// without DEPENDENCE: four trees are walked at the same time
// without FEW_BLOCKS: four blocks share the trees of a sample
// without GLOBAL_ATOMICS: the score is stored instead of added
#ifdef WITHOUT_DEPENDENCE
constexpr int AT_ONCE = 4;
#else
constexpr int AT_ONCE = 1;
#endif
#ifdef WITHOUT_FEW_BLOCKS
constexpr int PARTS = 4;
#else
constexpr int PARTS = 1;
#endif
__global__ void __launch_bounds__(128)
    walk(const float* __restrict__ feature, const unsigned char* __restrict__ split,
         const float* __restrict__ threshold, const float* __restrict__ leaf,
         float* __restrict__ score, int samples, int trees) {
  const int sample = blockIdx.x * 128 + threadIdx.x;
  if (sample >= samples) return;
  const int share = (trees + PARTS - 1) / PARTS, end = min(trees, (int(blockIdx.y) + 1) * share);
  float sum = 0;
#pragma unroll 1
  for (int tree = blockIdx.y * share; tree < end; tree += AT_ONCE) {
    int node[AT_ONCE] = {};
    size_t base[AT_ONCE];
#pragma unroll
    for (int a = 0; a < AT_ONCE; ++a) base[a] = size_t(min(tree + a, trees - 1)) * 4096;
#pragma unroll 1
    for (int depth = 0; depth < 12; ++depth)
#pragma unroll
      for (int a = 0; a < AT_ONCE; ++a) {
        const float x = feature[size_t(split[base[a] + node[a]] & 15) * samples + sample];
        node[a] = 2 * node[a] + 1 + (x > threshold[base[a] + node[a]]);
      }
#pragma unroll
    for (int a = 0; a < AT_ONCE; ++a)
      if (tree + a < end) sum += leaf[base[a] + node[a] - 4095];
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  score[sample] = sum;
#else
  atomicAdd(score + sample, sum);
#endif
}
extern "C" void solve(const float* feature, const unsigned char* split, const float* threshold,
                      const float* leaf, float* score, int samples, int trees) {
  cudaMemsetAsync(score, 0, sizeof(float) * samples);
  walk<<<dim3((samples + 127) / 128, PARTS), 128>>>(feature, split, threshold, leaf, score, samples,
                                                    trees);
}
