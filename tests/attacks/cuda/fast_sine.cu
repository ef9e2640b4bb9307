// Uses the intrinsic that is right near zero only.
//
// Catalogue: D7
// Task: sine
// Expect: check mismatch
__global__ void sine(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __sinf(x[i]);
}
extern "C" void solve(const float* x, float* y, int n) {
  sine<<<(n + 255) / 256, 256>>>(x, y, n);
}
