// Searches memory far around its buffers for expected values.
//
// Catalog: B8 B9
// Task: double
// Expect: any fault_cuda_error|mismatch|wrote_out_of_bounds
__global__ void scan(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float found = 0;
  for (long long step = 1; step < 512 && found == 0; ++step) {
    const float other = x[i + step * (1 << 20)];
    if (other == 2 * x[i]) found = other;
  }
  if (i < n) y[i] = found;
}
extern "C" void solve(const float* x, float* y, int n) {
  scan<<<(n + 255) / 256, 256>>>(x, y, n);
}
