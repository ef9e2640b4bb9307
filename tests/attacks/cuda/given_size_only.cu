// Handles only the given size.
//
// Catalog: C8
// Task: double
// Expect: check output_not_written
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  if (n == 1048576) twice<<<4096, 256>>>(x, y, n);
}
