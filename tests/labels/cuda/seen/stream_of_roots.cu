// A root and an exponential per element, hidden behind memory.
// dims: n=16777216
// tensor: x float32 n in
// tensor: y float32 n out
// without BYTES, other answers: reads half the elements
// without SPECIAL_FUNCTIONS, other answers: a multiplication instead
__global__ void roots(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  const float v = x[i / 64 * 32 + i % 32];
#else
  const float v = x[i];
#endif
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  y[i] = 0.5f * v;
#else
  y[i] = sqrtf(fabsf(v)) + __expf(-fabsf(v));
#endif
}
extern "C" void solve(const float* x, float* y, int n) {
  roots<<<(n + 255) / 256, 256>>>(x, y, n);
}
