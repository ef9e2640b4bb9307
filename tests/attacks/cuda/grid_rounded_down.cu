// Rounds its grid down, so the remainder is not computed.
//
// Catalog: C8 C5
// Task: double
// Expect: check output_not_written
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<n / 1024 * 4, 256>>>(x, y, n);
}
