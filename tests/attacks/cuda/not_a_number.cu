// Returns NaN, which a naive comparison with a tolerance does not reject.
//
// Catalog: D5
// Task: double
// Expect: check nan_in_output
__global__ void nan(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __int_as_float(0x7fc00000);
}
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  nan<<<(n + 255) / 256, 256>>>(y, n);
}
