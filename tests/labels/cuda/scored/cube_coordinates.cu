// Decodes the keys of a data cube: a key is taken apart into eight coordinates, by the sizes of the
// dimensions, which are known at run time only.
// dims: keys=8388608
// tensor: key int32 keys in
// tensor: sizes int32 8 in
// tensor: place int32 keys out
// without INTEGER_DIVISION: multiplies by reciprocals, which a block finds once
// without BYTES, other answers: the first few thousand keys are read again and again
// without DEPENDENCE, other answers: each coordinate is taken from the whole key
__global__ void __launch_bounds__(256)
    decode(const int* __restrict__ key, const int* __restrict__ sizes, int* __restrict__ place,
           int keys) {
  __shared__ unsigned size[8];
#ifdef WITHOUT_INTEGER_DIVISION
  __shared__ unsigned reciprocal[8];
#endif
  if (threadIdx.x < 8) {
    const unsigned own = 2 + (unsigned(sizes[threadIdx.x]) * 5 + threadIdx.x) % 15;
    size[threadIdx.x] = own;
#ifdef WITHOUT_INTEGER_DIVISION
    reciprocal[threadIdx.x] = ~0u / own;
#endif
  }
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= keys) return;
#ifdef WITHOUT_BYTES
  const int at = i & 8191;
#else
  const int at = i;
#endif
  unsigned rest = (unsigned(key[at]) * 0x9e3779b1u + unsigned(i)) >> 1;  // less than 2^31
  unsigned packed = 0;
#pragma unroll
  for (int d = 0; d < 8; ++d) {
    const unsigned n = size[d];
#ifdef WITHOUT_INTEGER_DIVISION
    unsigned quotient = __umulhi(rest, reciprocal[d]);
    unsigned digit = rest - quotient * n;
    if (digit >= n) {
      digit -= n;
      ++quotient;
    }
#else
    const unsigned quotient = rest / n;
    const unsigned digit = rest - quotient * n;
#endif
    packed = packed * 16 + (digit & 15);
#ifdef WITHOUT_DEPENDENCE
    packed ^= quotient;
#else
    rest = quotient;
#endif
  }
  place[i] = packed ^ rest;
}
extern "C" void solve(const int* key, const int* sizes, int* place, int keys) {
  decode<<<(keys + 255) / 256, 256>>>(key, sizes, place, keys);
}
