// Follows chains of overflow pages of a hash file, a warp a chain. A page is 128 bytes: its first
// word names the next page, and all words enter the checksums of the chain.
// dims: pages=1048576 chains=2112 length=192
// tensor: file int32 pages,32 in
// tensor: sums int32 chains,32 out
// without SERIAL_LOADS, other answers: the next page is known without reading this one
// without ARITHMETIC, other answers: the words are only added up
// without DIVERGENCE: deleted words are sorted out by a choice instead of a branch
__global__ void __launch_bounds__(128) follow(const int* __restrict__ file, int* __restrict__ sums,
                                              int pages, int chains, int length) {
  const int chain = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (chain >= chains) return;
  unsigned page = (chain * 0x9e3779b1u >> 7) & (pages - 1), sum = 0;
#ifdef WITHOUT_SERIAL_LOADS
#pragma unroll 8
#else
#pragma unroll 1
#endif
  for (int k = 0; k < length; ++k) {
    const unsigned word = file[size_t(page) * 32 + lane];
#ifdef WITHOUT_ARITHMETIC
    const unsigned mixed = word;
#else
    unsigned mixed = (word ^ word >> 15) * 0x2c1b3c6du + k;
    mixed = (mixed ^ mixed >> 13) * 0x297a2d39u;
#endif
#ifdef WITHOUT_DIVERGENCE
    sum += (word & 7) == 3 ? 0u : mixed;
#else
    if ((word & 7) != 3) sum += mixed;
#endif
#ifdef WITHOUT_SERIAL_LOADS
    const unsigned next = (chain * 0x9e3779b1u + k * 0x85ebca6bu) >> 7;
#else
    const unsigned next = __shfl_sync(~0u, word, 0) ^ k * 0x85ebca6bu;
#endif
    page = next & (pages - 1);
  }
  sums[chain * 32 + lane] = sum;
}
extern "C" void solve(const int* file, int* sums, int pages, int chains, int length) {
  follow<<<(chains + 3) / 4, 128>>>(file, sums, pages, chains, length);
}
