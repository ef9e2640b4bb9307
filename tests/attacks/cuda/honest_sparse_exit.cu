// Leaves out the zeros of a sparse input, and is right on any.
//
// Catalog: honest
// Task: double
// Search: 4
// Expect: pass
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = 0;
  if (x[i] != 0) value = 2 * x[i];
  y[i] = value;
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
