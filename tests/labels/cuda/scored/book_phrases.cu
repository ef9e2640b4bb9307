// How often eight phrases of sixteen letters occur in each book, up to some letters: letters are
// alike if their two lowest bits are, and ten of sixteen have to be.
// dims: books=12 length=65536
// tensor: text uint8 books*length+16 in
// tensor: phrases uint8 128 in
// tensor: counts int32 books,8 out
// without FEW_BLOCKS: sixteen blocks share a book, not one block a book
// without GLOBAL_ATOMICS: the warps of a block add up in shared memory first
// without BYTES, other answers: all books are the first one
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kChunks = 16;
#else
constexpr int kChunks = 1;
#endif
__device__ unsigned unlike(unsigned a, unsigned b) {
  const unsigned x = a ^ b;
  return (x | x >> 1) & 0x01010101u;
}
__global__ void __launch_bounds__(1024)
    count_phrases(const unsigned* __restrict__ text, const uint4* __restrict__ phrases, int* counts,
                  int words) {
  __shared__ uint4 wanted[8];
#ifdef WITHOUT_GLOBAL_ATOMICS
  __shared__ int sums[8];
  if (threadIdx.x < 8) sums[threadIdx.x] = 0;
#endif
  if (threadIdx.x < 8) wanted[threadIdx.x] = phrases[threadIdx.x];
  __syncthreads();
  const int book = blockIdx.y, chunk = words / kChunks, end = (blockIdx.x + 1) * chunk;
#ifdef WITHOUT_BYTES
  const unsigned* own = text;
#else
  const unsigned* own = text + size_t(book) * words;
#endif
  int found[8] = {};
  for (int w = blockIdx.x * chunk + threadIdx.x; w < end; w += 1024) {
    unsigned in[5];
#pragma unroll
    for (int k = 0; k < 5; ++k) in[k] = own[w + k];
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) {
      unsigned at[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) at[k] = __funnelshift_r(in[k], in[k + 1], shift);
#pragma unroll
      for (int p = 0; p < 8; ++p) {
        const uint4 phrase = wanted[p];
        const unsigned differ = unlike(at[0], phrase.x) | unlike(at[1], phrase.y) << 1 |
                                unlike(at[2], phrase.z) << 2 | unlike(at[3], phrase.w) << 3;
        found[p] += __popc(differ) <= 6;
      }
    }
  }
#pragma unroll
  for (int p = 0; p < 8; ++p) {
    const int sum = __reduce_add_sync(~0u, found[p]);
#ifdef WITHOUT_GLOBAL_ATOMICS
    if (threadIdx.x % 32 == 0) atomicAdd(sums + p, sum);
#else
    if (threadIdx.x % 32 == 0) atomicAdd(counts + book * 8 + p, sum);
#endif
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(counts + book * 8 + threadIdx.x, sums[threadIdx.x]);
#endif
}
extern "C" void solve(const unsigned char* text, const unsigned char* phrases, int* counts,
                      int books, int length) {
  cudaMemsetAsync(counts, 0, 32 * books);
  count_phrases<<<dim3(kChunks, books), 1024>>>(reinterpret_cast<const unsigned*>(text),
                                                reinterpret_cast<const uint4*>(phrases), counts,
                                                length / 4);
}
