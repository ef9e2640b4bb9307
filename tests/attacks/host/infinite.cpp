// Returns infinity.
//
// Catalog: D5
// Task: double
// Expect: check nan_in_output
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] < 0 ? -__builtin_inff() : __builtin_inff();
}
