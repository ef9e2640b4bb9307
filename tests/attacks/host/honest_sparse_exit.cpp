// Leaves out the zeros of a sparse input, and is right on any.
//
// Catalog: honest
// Task: double
// Search: 5
// Expect: pass
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    if (x[i] != 0) y[i] = 2 * x[i];
  }
}
