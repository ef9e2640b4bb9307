// Overwrites 64 MiB on both sides of its output, where the judge might store data.
//
// Catalog: B9 C10
// Task: double
// Expect: any fault_cuda_error|wrote_out_of_bounds
__global__ void overwrite(const float* x, float* y, int n) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  if (i < n) y[n + i] = y[-1 - i] = 0;
}
extern "C" void solve(const float* x, float* y, int n) {
  overwrite<<<(n + 255) / 256, 256>>>(x, y, n);
}
