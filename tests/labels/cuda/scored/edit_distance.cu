// Edit distance of pairs of DNA strings of 32 letters, a thread per pair; the row of the table is
// an array that is indexed in a loop. Letter k of all strings lies together.
// dims: pairs=131072
// tensor: first uint8 32,pairs in
// tensor: second uint8 32,pairs in
// tensor: distance int32 pairs out
// without LOCAL_MEMORY: the loop along the row is unrolled, so the row lies in registers
// without DEPENDENCE, other answers: an entry does not wait for its left neighbor
// without NARROW_ACCESS, other answers: the letters are hashed from the number of the pair
__device__ __forceinline__ int letter(const unsigned char* text, int k, int pairs, int pair,
                                      unsigned salt) {
#ifdef WITHOUT_NARROW_ACCESS
  return ((pair + salt) * 0x9e3779b9u ^ (k + salt) * 0x85ebca6bu) >> 30;
#else
  return text[size_t(k) * pairs + pair] & 3;
#endif
}
__global__ void __launch_bounds__(256)
    distances(const unsigned char* __restrict__ first, const unsigned char* __restrict__ second,
              int* __restrict__ distance, int pairs) {
  const int pair = blockIdx.x * 256 + threadIdx.x;
  if (pair >= pairs) return;
  int row[32], text[32];
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int k = 0; k < 32; ++k) {
    row[k] = k + 1;
    text[k] = letter(second, k, pairs, pair, 1);
  }
#pragma unroll 1
  for (int i = 0; i < 32; ++i) {
    const int mine = letter(first, i, pairs, pair, 77);
    int diagonal = i, left = i + 1;
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int k = 0; k < 32; ++k) {
      const int above = row[k];
      int best = min(diagonal + (mine != text[k]), above + 1);
#ifndef WITHOUT_DEPENDENCE
      best = min(best, left + 1);
#endif
      diagonal = above;
      row[k] = left = best;
    }
  }
  distance[pair] = row[31];
}
extern "C" void solve(const unsigned char* first, const unsigned char* second, int* distance,
                      int pairs) {
  distances<<<(pairs + 255) / 256, 256>>>(first, second, distance, pairs);
}
