// Constants without an f, so single numbers are calculated as double ones.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without DOUBLE_PRECISION: the same constants as single numbers
// without BYTES, other answers: does not read x from memory
#ifdef WITHOUT_DOUBLE_PRECISION
using Number = float;
#else
using Number = double;
#endif
__global__ void damped(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  const float v = 1e-7f * i;
#else
  const float v = x[i];
#endif
  float a = v, b = 0.5f * v;
#pragma unroll 8
  for (int k = 0; k < 64; ++k) {
    a = float(a * Number(0.75) + Number(0.1));
    b = float(b * Number(0.625) - Number(0.2));
  }
  y[i] = a + b;
}
extern "C" void solve(const float* x, float* y, int n) {
  damped<<<(n + 255) / 256, 256>>>(x, y, n);
}
