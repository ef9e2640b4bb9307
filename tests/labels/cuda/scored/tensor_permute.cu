// Permutes the dimensions of a tensor, sizes known at run time only: y[d, b, a, c, e].
// dims: a=32 b=12 c=32 d=24 e=64
// tensor: x float32 a,b,c,d,e in
// tensor: y float32 d,b,a,c,e out
// without INTEGER_DIVISION: multiplies by reciprocals that the host computes
// without STRIDED_ACCESS, other answers: reads in the order in which it writes
struct Divisor {
  unsigned size, factor, shift;
  __device__ unsigned split(unsigned& rest) const {
#ifdef WITHOUT_INTEGER_DIVISION
    const unsigned quotient = (__umulhi(rest, factor) + rest) >> shift;
#else
    const unsigned quotient = rest / size;
#endif
    const unsigned remainder = rest - quotient * size;
    rest = quotient;
    return remainder;
  }
};

static Divisor divisor_of(unsigned size) {
  unsigned shift = 0;
  while (shift < 31 && (1u << shift) < size) ++shift;
  const unsigned long long one = 1;
  return {size, unsigned((one << 32) * ((one << shift) - size) / size + 1), shift};
}

__global__ void permute(const float* __restrict__ x, float* __restrict__ y, Divisor a, Divisor b,
                        Divisor c, Divisor d, Divisor e, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned rest = i;
  unsigned ie = e.split(rest), ic = c.split(rest), ia = a.split(rest), ib = b.split(rest);
  // Else the compiler would see where the indices cancel out.
  asm volatile("" : "+r"(ie), "+r"(ic), "+r"(ia), "+r"(ib), "+r"(rest));
#ifdef WITHOUT_STRIDED_ACCESS
  y[i] = x[(((rest * b.size + ib) * a.size + ia) * c.size + ic) * e.size + ie];
#else
  y[i] = x[(((ia * b.size + ib) * c.size + ic) * d.size + rest) * e.size + ie];
#endif
}

extern "C" void solve(const float* x, float* y, int a, int b, int c, int d, int e) {
  const unsigned n = a * b * c * d * e;
  permute<<<(n + 255) / 256, 256>>>(x, y, divisor_of(a), divisor_of(b), divisor_of(c),
                                    divisor_of(d), divisor_of(e), n);
}
