// Reduces the ratios of gear trains to lowest terms: the numerator and denominator, of 24 bits
// each, are divided by their greatest common divisor, which Euclid's algorithm finds.
// dims: trains=4194304
// tensor: over int32 trains in
// tensor: under int32 trains in
// tensor: divisor int32 trains out
// without INTEGER_DIVISION: the binary algorithm, with shifts and subtractions only
// without DIVERGENCE, other answers: all lanes of a warp have the train of its first lane
// without BYTES, other answers: the first 4096 trains are read again and again
__global__ void __launch_bounds__(256)
    reduce(const int* __restrict__ over, const int* __restrict__ under, int* __restrict__ divisor,
           int trains) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= trains) return;
#if defined(WITHOUT_DIVERGENCE)
  const int from = i & ~31;
#elif defined(WITHOUT_BYTES)
  const int from = i & 4095;
#else
  const int from = i;
#endif
  unsigned a = (over[from] & 0xffffff) + 1, b = (under[from] & 0xffffff) + 1;
#ifdef WITHOUT_INTEGER_DIVISION
  const int twos = __ffs(a | b) - 1;
  a >>= __ffs(a) - 1;
#pragma unroll 1
  while (b != 0) {
    b >>= __ffs(b) - 1;
    const unsigned least = min(a, b);
    b = max(a, b) - least;
    a = least;
  }
  a <<= twos;
#else
#pragma unroll 1
  while (b != 0) {
    const unsigned rest = a % b;
    a = b;
    b = rest;
  }
#endif
  divisor[i] = a;
}
extern "C" void solve(const int* over, const int* under, int* divisor, int trains) {
  reduce<<<(trains + 255) / 256, 256>>>(over, under, divisor, trains);
}
