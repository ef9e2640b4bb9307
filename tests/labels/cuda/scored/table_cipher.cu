// A toy cipher: the rounds substitute the bytes of blocks of four words by four tables and mix
// them.
// dims: blocks=131072 rounds=10
// tensor: text int32 blocks,4 in
// tensor: keys int32 rounds,4 in
// tensor: cipher int32 blocks,4 out
// without CONSTANT_CACHE: the tables are in shared memory, not in constant memory
// without STRIDED_ACCESS: the four words of a block are loaded and stored as one vector
struct Tables {
  unsigned words[1024];
};
constexpr Tables made() {
  Tables tables{};
  unsigned x = 12345;
  for (unsigned& word : tables.words) {
    x = x * 1664525u + 1013904223u;
    word = x ^ x >> 15;
  }
  return tables;
}
#ifdef WITHOUT_CONSTANT_CACHE
__device__ const Tables stored = made();
#else
__constant__ const Tables stored = made();
#endif
__global__ void __launch_bounds__(256)
    encrypt(const int* __restrict__ text, const int* __restrict__ keys, int* __restrict__ cipher,
            int blocks, int rounds) {
#ifdef WITHOUT_CONSTANT_CACHE
  __shared__ unsigned table[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) table[i] = stored.words[i];
  __syncthreads();
#else
  const unsigned* table = stored.words;
#endif
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= blocks) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const int4 in = reinterpret_cast<const int4*>(text)[i];
#else
  const int4 in = make_int4(text[4 * i], text[4 * i + 1], text[4 * i + 2], text[4 * i + 3]);
#endif
  unsigned w[4] = {in.x ^ i * 2654435761u, in.y ^ i * 0x85ebca6bu, in.z ^ i * 0xc2b2ae35u,
                   in.w ^ i * 0x27d4eb2fu};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    unsigned next[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      next[k] = table[w[k] & 255] ^ table[256 + (w[(k + 1) % 4] >> 8 & 255)] ^
                table[512 + (w[(k + 2) % 4] >> 16 & 255)] ^ table[768 + (w[(k + 3) % 4] >> 24)] ^
                unsigned(keys[round * 4 + k]);
#pragma unroll
    for (int k = 0; k < 4; ++k) w[k] = next[k];
  }
#ifdef WITHOUT_STRIDED_ACCESS
  reinterpret_cast<int4*>(cipher)[i] = make_int4(w[0], w[1], w[2], w[3]);
#else
#pragma unroll
  for (int k = 0; k < 4; ++k) cipher[4 * i + k] = w[k];
#endif
}
extern "C" void solve(const int* text, const int* keys, int* cipher, int blocks, int rounds) {
  encrypt<<<(blocks + 255) / 256, 256>>>(text, keys, cipher, blocks, rounds);
}
