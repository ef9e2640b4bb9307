// Uses a series that is accurate only near zero.
//
// Catalog: D7
// Task: sine
// Expect: check mismatch
__global__ void sine(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = x[i] * x[i];
  y[i] = x[i] * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))));
}
extern "C" void solve(const float* x, float* y, int n) {
  sine<<<(n + 255) / 256, 256>>>(x, y, n);
}
