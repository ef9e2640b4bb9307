// Returns zeros where the absolute tolerance accepts them: small answers must not all be zero.
//
// Catalog: C1 D6
// Task: loose_softmax
// Expect: check flushes_small_values
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  (void)x;
  cudaMemsetAsync(y, 0, sizeof(float) * rows * cols, nullptr);
}
