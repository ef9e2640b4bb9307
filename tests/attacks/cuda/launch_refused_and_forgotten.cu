// Clears the error of a failed launch.
//
// Catalog: C11
// Task: double
// Expect: check output_not_written|fault_cuda_error
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<0, 256>>>(x, y, n);
  cudaGetLastError();
}
