// Changes its input to fit its answer.
//
// Catalog: C9
// Task: double
// Expect: check modified_input
extern "C" void solve(const float* x, float* y, int n) {
  cudaMemsetAsync(const_cast<float*>(x), 0, sizeof(float) * n, nullptr);
  cudaMemsetAsync(y, 0, sizeof(float) * n, nullptr);
}
