// Cryptography: raises each residue to the 65537th power modulo an odd number given at run time.
// dims: n=262144 modulus=1073741789
// tensor: x int32 n in
// tensor: y int32 n out
// without INTEGER_DIVISION: Montgomery's reduction in place of the remainder of 64 bits
// without NARROW_ACCESS: a thread reads and writes two residues at once
__device__ unsigned power(unsigned base, unsigned modulus, unsigned inverse, unsigned square) {
#ifdef WITHOUT_INTEGER_DIVISION
  const auto times = [=](unsigned a, unsigned b) {
    const unsigned long long product = 1ull * a * b;
    const unsigned factor = unsigned(product) * inverse;
    const unsigned high = unsigned((product + 1ull * factor * modulus) >> 32);
    return high >= modulus ? high - modulus : high;
  };
  const unsigned start = times(base, square);
#else
  const auto times = [=](unsigned a, unsigned b) { return unsigned(1ull * a * b % modulus); };
  const unsigned start = base;
#endif
  unsigned v = start;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) v = times(v, v);
  v = times(v, start);
#ifdef WITHOUT_INTEGER_DIVISION
  v = times(v, 1);
#endif
  return v;
}
__global__ void residue_powers(const int* __restrict__ x, int* __restrict__ y, int n,
                               unsigned modulus, unsigned inverse, unsigned square) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef WITHOUT_NARROW_ACCESS
  if (2 * i >= n) return;
  int2 v = reinterpret_cast<const int2*>(x)[i];
  v.x = power((unsigned(v.x) * 2654435761u) >> 3, modulus, inverse, square);
  v.y = power((unsigned(v.y) * 2654435761u) >> 3, modulus, inverse, square);
  reinterpret_cast<int2*>(y)[i] = v;
#else
  if (i >= n) return;
  y[i] = power((unsigned(x[i]) * 2654435761u) >> 3, modulus, inverse, square);
#endif
}
extern "C" void solve(const int* x, int* y, int n, int modulus) {
  const unsigned m = modulus;
  unsigned inverse = m;
  for (int k = 0; k < 5; ++k) inverse *= 2 - m * inverse;
  const unsigned long long r = (1ull << 32) % m;
#ifdef WITHOUT_NARROW_ACCESS
  const int threads = n / 2;
#else
  const int threads = n;
#endif
  residue_powers<<<(threads + 255) / 256, 256>>>(x, y, n, m, 0u - inverse, unsigned(r * r % m));
}
