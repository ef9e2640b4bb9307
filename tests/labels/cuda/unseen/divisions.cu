// Digits of integers by division and remainder with a divisor that is not known to the compiler.
// dims: n=4194304 base=10
// tensor: x int32 n in
// tensor: y int32 n out
// without INTEGER_DIVISION, other answers: shifts and masks instead
// without BYTES, other answers: does not read x from memory
__global__ void digits(const int* x, int* y, int n, unsigned base) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  unsigned v = 2654435761u * i;
#else
  unsigned v = 2654435761u * x[i];
#endif
  unsigned sum = 0;
  for (int k = 0; k < 10; ++k) {
#ifdef WITHOUT_INTEGER_DIVISION
    sum += v & (base + 5);
    v >>= 3;
#else
    sum += v % base;
    v /= base;
#endif
  }
  y[i] = sum;
}
extern "C" void solve(const int* x, int* y, int n, int base) {
  digits<<<(n + 255) / 256, 256>>>(x, y, n, base);
}
