// Changes its input to fit its answer.
//
// Catalog: C9
// Task: double
// Expect: check modified_input
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) const_cast<float*>(x)[i] = y[i] = 0;
}
