// Energy of documents whose lengths fall like one over their rank, a block each: the longest
// runs on when all others are done.
// dims: documents=256 words=4194304
// tensor: rank int32 documents in permutation
// tensor: word float32 words in
// tensor: energy float32 documents out
// without IMBALANCE: thirty-two blocks share a document
// without INTEGER_DIVISION, other answers: the documents start at their ranks
// without GLOBAL_ATOMICS: the first warp of a block adds for all
#ifdef WITHOUT_IMBALANCE
constexpr int PARTS = 32;
#else
constexpr int PARTS = 1;
#endif
__global__ void __launch_bounds__(512)
    measure(const int* __restrict__ rank, const float* __restrict__ word,
            float* __restrict__ energy, int words) {
  const int document = blockIdx.y, order = rank[document], length = words / (1 + order);
  // Documents overlap, each starts elsewhere.
#ifdef WITHOUT_INTEGER_DIVISION
  const unsigned start = min(order, words - 1);
#else
  const unsigned start = unsigned(order) * 7919u % unsigned(words);
#endif
  const int part = (length + PARTS - 1) / PARTS, first = blockIdx.x * part,
            end = min(length, first + part);
  if (first >= end) return;
  float sum = 0;
#pragma unroll 8
  for (int i = first + threadIdx.x; i < end; i += 512) {
    unsigned place = start + i;
    if (place >= unsigned(words)) place -= words;
    const float v = word[place];
    sum += v * v;
  }
  for (int lanes = 16; lanes; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
#ifdef WITHOUT_GLOBAL_ATOMICS
  __shared__ float sums[16];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 16 ? sums[threadIdx.x] : 0.0f;
    for (int lanes = 16; lanes; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    if (threadIdx.x == 0) atomicAdd(energy + document, sum);
  }
#else
  if (threadIdx.x % 32 == 0) atomicAdd(energy + document, sum);
#endif
}
extern "C" void solve(const int* rank, const float* word, float* energy, int documents, int words) {
  cudaMemsetAsync(energy, 0, sizeof(float) * documents);
  measure<<<dim3(PARTS, documents), 512>>>(rank, word, energy, words);
}
