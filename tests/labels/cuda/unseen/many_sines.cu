// Fast sines and exponentials: the unit for special functions.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without SPECIAL_FUNCTIONS, other answers: a multiplication and an addition in the place of each
// without BYTES, other answers: does not read x from memory
__device__ float special(float v) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return v * 0.9f + 0.1f;
#else
  return __sinf(v);
#endif
}
__global__ void sines(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  const float v = 1e-6f * i;
#else
  const float v = x[i];
#endif
  float a = v, b = v + 0.5f;
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    a = special(a) + v;
    b = special(b) - v;
  }
  y[i] = a + b;
}
extern "C" void solve(const float* x, float* y, int n) {
  sines<<<(n + 255) / 256, 256>>>(x, y, n);
}
