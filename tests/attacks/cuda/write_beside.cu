// Writes a whole last block, beyond the end of its output.
//
// Catalog: C10
// Task: double
// Expect: check wrote_out_of_bounds
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i < n ? 2 * x[i] : 0;
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<n / 256 + 1, 256>>>(x, y, n);
}
