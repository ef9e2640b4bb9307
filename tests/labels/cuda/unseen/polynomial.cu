// A polynomial of degree 512 per element.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without ARITHMETIC, other answers: half the degree
// without BYTES, other answers: does not read x from memory
__global__ void polynomial(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  const float v = 0.25f + 1e-7f * (i & 1023);
#else
  const float v = 0.25f * __saturatef(x[i]);
#endif
#ifdef WITHOUT_ARITHMETIC
  constexpr int kDegree = 256;
#else
  constexpr int kDegree = 512;
#endif
  float a = v, b = v + 1, c = v + 2, d = v + 3;
#pragma unroll 16
  for (int k = 0; k < kDegree / 4; ++k) {
    a = a * v + 0.5f;
    b = b * v + 0.25f;
    c = c * v + 0.125f;
    d = d * v + 1.0f;
  }
  y[i] = a + b + c + d;
}
extern "C" void solve(const float* x, float* y, int n) {
  polynomial<<<(n + 255) / 256, 256>>>(x, y, n);
}
