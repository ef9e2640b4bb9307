// A hundred steps over a small array, a launch for each.
// dims: n=16384
// tensor: x float32 n in
// tensor: y float32 n out
// without LAUNCHES: all steps in one launch
__global__ void begin(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void step(float* y, int n, int steps) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float v = y[i];
  for (int k = 0; k < steps; ++k) v = v * 0.99f + 0.01f;
  y[i] = v;
}
extern "C" void solve(const float* x, float* y, int n) {
  begin<<<(n + 255) / 256, 256>>>(x, y, n);
#ifdef WITHOUT_LAUNCHES
  step<<<(n + 255) / 256, 256>>>(y, n, 100);
#else
  for (int k = 0; k < 100; ++k) step<<<(n + 255) / 256, 256>>>(y, n, 1);
#endif
}
