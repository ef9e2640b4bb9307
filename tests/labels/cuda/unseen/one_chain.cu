// One warp per multiprocessor, and in each thread one chain of operations that wait for each other.
// dims: n=4224
// tensor: x float32 n in
// tensor: y float32 n out
// without DEPENDENCE: as many operations in four chains
__global__ void chain(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const float v = i < n ? 0.5f * __saturatef(x[i]) : 0;
  float sum = 0;
#ifdef WITHOUT_DEPENDENCE
  float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 8
  for (int k = 0; k < 5000; ++k) {
    a = a * v + 1;
    b = b * v + 1;
    c = c * v + 1;
    d = d * v + 1;
  }
  sum = 0.25f * (a + b + c + d);
#else
#pragma unroll 32
  for (int k = 0; k < 20000; ++k) sum = sum * v + 1;
#endif
  if (i < n) y[i] = sum;
}
extern "C" void solve(const float* x, float* y, int n) {
  chain<<<(n + 31) / 32, 32>>>(x, y, n);
}
