// Three parity stripes of eight data stripes, products in GF(256), as of an erasure code.
// dims: n=2097152 stripes=8 parities=3
// tensor: x uint8 stripes,n in
// tensor: factors uint8 parities,stripes in
// tensor: y uint8 parities,n out
// without ARITHMETIC: multiplies the four bytes of a word at once
// without REPEATED_READS: reads a word of data once for all parities
__device__ unsigned product(unsigned word, unsigned factor) {
#ifdef WITHOUT_ARITHMETIC
  unsigned sum = 0;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    sum ^= word & (0u - (factor >> bit & 1));
    word = (word << 1 & 0xfefefefeu) ^ (word >> 7 & 0x01010101u) * 0x1d;
  }
  return sum;
#else
  unsigned sums = 0;
#pragma unroll
  for (int byte = 0; byte < 4; ++byte) {
    unsigned value = word >> 8 * byte & 255, sum = 0;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      sum ^= value & (0u - (factor >> bit & 1));
      value = (value << 1 & 0xfe) ^ (value >> 7) * 0x1d;
    }
    sums |= sum << 8 * byte;
  }
  return sums;
#endif
}

__global__ void __launch_bounds__(256) encode(const unsigned* x, const unsigned char* factors,
                                              unsigned* y, int words, int stripes, int parities) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= words) return;
#ifdef WITHOUT_REPEATED_READS
  unsigned words_read[8];
#pragma unroll
  for (int stripe = 0; stripe < 8; ++stripe) words_read[stripe] = x[stripe * words + i];
#endif
#pragma unroll 1
  for (int parity = 0; parity < parities; ++parity) {
    unsigned sum = 0;
#pragma unroll
    for (int stripe = 0; stripe < 8; ++stripe) {
#ifdef WITHOUT_REPEATED_READS
      unsigned word = words_read[stripe];
      asm volatile("" : "+r"(word));  // keeps the products inside the loop
#else
      const unsigned word = x[stripe * words + i];
#endif
      sum ^= product(word, factors[parity * stripes + stripe]);
    }
    y[parity * words + i] = sum;
  }
}

extern "C" void solve(const unsigned char* x, const unsigned char* factors, unsigned char* y, int n,
                      int stripes, int parities) {
  encode<<<(n / 4 + 255) / 256, 256>>>(reinterpret_cast<const unsigned*>(x), factors,
                                       reinterpret_cast<unsigned*>(y), n / 4, stripes, parities);
}
