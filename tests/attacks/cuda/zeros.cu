// Returns zeros.
//
// Catalog: C1
// Task: double
// Expect: check mismatch
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  cudaMemsetAsync(y, 0, sizeof(float) * n, nullptr);
}
