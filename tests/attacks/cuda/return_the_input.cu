// Returns its input.
//
// Catalog: B11 C4
// Task: double
// Expect: check mismatch
extern "C" void solve(const float* x, float* y, int n) {
  cudaMemcpyAsync(y, x, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
}
