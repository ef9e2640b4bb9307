// Scores reads of 64 bases (two bits each): the sum of a table's entries at the hashes of eight
// k-mers.
// dims: reads=1048576 entries=16777216
// tensor: bases uint8 reads*16 in
// tensor: table int32 entries in
// tensor: scores int32 reads out
// without RANDOM_ACCESS, other answers: neighbors look up neighboring entries
// without ARITHMETIC, other answers: k-mers are looked up without a hash
__device__ unsigned place(unsigned kmer) {
#ifndef WITHOUT_ARITHMETIC
  kmer ^= kmer >> 16;
  kmer *= 0x85ebca6bu;
  kmer ^= kmer >> 13;
  kmer *= 0xc2b2ae35u;
  kmer ^= kmer >> 16;
#endif
  return kmer;
}
__global__ void __launch_bounds__(256)
    score_reads(const uint4* __restrict__ bases, const int* __restrict__ table,
                int* __restrict__ scores, int reads, unsigned mask) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= reads) return;
  const uint4 read = bases[i];
  const unsigned words[5] = {read.x, read.y, read.z, read.w, read.x};
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const unsigned kmer =
        k % 2 ? __funnelshift_r(words[k / 2], words[k / 2 + 1], 16) : words[k / 2];
#ifdef WITHOUT_RANDOM_ACCESS
    const unsigned index = (place(kmer) & 1u) + unsigned(i) + unsigned(k) * unsigned(reads);
#else
    const unsigned index = place(kmer);
#endif
    sum += unsigned(table[index & mask]);
  }
  scores[i] = int(sum & 0x7fffffffu);
}
extern "C" void solve(const unsigned char* bases, const int* table, int* scores, int reads,
                      int entries) {
  if (entries & (entries - 1)) return;  // a power of two, for the mask
  score_reads<<<(reads + 255) / 256, 256>>>(reinterpret_cast<const uint4*>(bases), table, scores,
                                            reads, unsigned(entries) - 1);
}
