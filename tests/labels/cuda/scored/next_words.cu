// Greedy choice of the next word, the largest of half a million logits: each row of the batch
// has one block.
// dims: rows=8 words=524288
// tensor: logit float32 rows,words in
// tensor: key int32 rows,2 out
// tensor: word int32 rows out
// without FEW_BLOCKS: 32 blocks per row
// without GLOBAL_ATOMICS: the one block of a row stores its result
#ifdef WITHOUT_FEW_BLOCKS
constexpr int PARTS = 32;
#else
constexpr int PARTS = 1;
#endif
__global__ void __launch_bounds__(1024)
    largest(const float* __restrict__ logit, unsigned long long* __restrict__ key, int words) {
  __shared__ unsigned long long bests[32];
  const float* row = logit + size_t(blockIdx.y) * words;
  float most = -INFINITY;
  int where = 0;
#pragma unroll 8
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < words; i += PARTS * 1024) {
    const float v = row[i];
    if (v > most) {
      most = v;
      where = i;
    }
  }
  unsigned order = __float_as_uint(most);
  order = order & 0x80000000u ? ~order : order | 0x80000000u;
  unsigned long long best = (unsigned long long)order << 32 | unsigned(~where);
  for (int lanes = 16; lanes; lanes /= 2) best = max(best, __shfl_xor_sync(~0u, best, lanes));
  if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x < 32) {
    best = bests[threadIdx.x];
    for (int lanes = 16; lanes; lanes /= 2) best = max(best, __shfl_xor_sync(~0u, best, lanes));
    if (threadIdx.x == 0) {
#ifdef WITHOUT_GLOBAL_ATOMICS
      key[blockIdx.y] = best;
#else
      atomicMax(key + blockIdx.y, best);
#endif
    }
  }
}
__global__ void decode(const unsigned long long* __restrict__ key, int* __restrict__ word,
                       int rows) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row < rows) word[row] = int(~unsigned(key[row]));
}
extern "C" void solve(const float* logit, int* key, int* word, int rows, int words) {
  cudaMemsetAsync(key, 0, 8 * rows);
  largest<<<dim3(PARTS, rows), 1024>>>(logit, (unsigned long long*)key, words);
  decode<<<(rows + 63) / 64, 64>>>((const unsigned long long*)key, word, rows);
}
