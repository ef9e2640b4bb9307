// Requests more shared memory than exists: the launch fails, and the kernel does not check.
//
// Catalog: C11
// Task: double
// Expect: check fault_cuda_error
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256, 1 << 20>>>(x, y, n);
}
