// Encodes many rANS streams, one per thread; keeps each one's state and the count and hash of its
// words.
// dims: streams=262144 steps=256
// tensor: symbols uint8 steps*streams in
// tensor: weights int32 256 in
// tensor: state int32 streams out
// tensor: words int32 streams out
// tensor: check int32 streams out
// without INTEGER_DIVISION: the table has the frequencies' reciprocals, too, to multiply with
// without BANK_CONFLICTS, other answers: each lane has symbols of a bank of its own
// without DIVERGENCE: whether a word is put out is a selection, not a branch
__global__ void __launch_bounds__(256)
    encode(const unsigned* __restrict__ symbols, const int* __restrict__ weights,
           int* __restrict__ state, int* __restrict__ words, int* __restrict__ check, int streams,
           int steps) {
  // A symbol has 16 of 4096 slots and uses 9 to 16. An entry is its frequency and 2^28 / frequency.
  __shared__ unsigned table[256];
  {
    const unsigned frequency = 9 + (weights[threadIdx.x] & 7);
    table[threadIdx.x] = (((1u << 28) + frequency - 1) / frequency) << 5 | frequency;
  }
  __syncthreads();
  const int stream = blockIdx.x * 256 + threadIdx.x;
  if (stream >= streams) return;
  unsigned x = 1u << 16, count = 0, hash = 0;
  unsigned next = symbols[stream];
#pragma unroll 1
  for (int step = 0; step < steps; step += 4) {
    unsigned four = next;
    if (step + 4 < steps) next = symbols[size_t(step / 4 + 1) * streams + stream];
#ifdef WITHOUT_BANK_CONFLICTS
    four = (four & 0xe0e0e0e0u) | (threadIdx.x % 32) * 0x01010101u;
#endif
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned symbol = (four >> (8 * k)) & 255;
      const unsigned entry = table[symbol], frequency = entry & 31;
#ifdef WITHOUT_DIVERGENCE
      const bool full = x >= frequency << 20;
      hash = full ? hash * 31 + (x & 0xffff) : hash;
      count += full;
      x >>= full * 16;
#else
      if (x >= frequency << 20) {
        hash = hash * 31 + (x & 0xffff);
        ++count;
        x >>= 16;
      }
#endif
      // x is less than 2^24 here, so that the product has the quotient exactly.
#ifdef WITHOUT_INTEGER_DIVISION
      const unsigned quotient = __umulhi(x, (entry & ~31u) >> 1);
#else
      const unsigned quotient = x / frequency;
#endif
      x = (quotient << 12) + (x - quotient * frequency) + symbol * 16;
    }
  }
  state[stream] = x;
  words[stream] = count;
  check[stream] = hash;
}

// The number of steps is a multiple of four: a stream's symbols lie in words of four.
extern "C" void solve(const unsigned char* symbols, const int* weights, int* state, int* words,
                      int* check, int streams, int steps) {
  encode<<<(streams + 255) / 256, 256>>>(reinterpret_cast<const unsigned*>(symbols), weights, state,
                                         words, check, streams, steps);
}
