// Writes one element past the end of its output.
//
// Catalog: C10
// Task: double
// Expect: check wrote_out_of_bounds
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i <= n; ++i) y[i] = 2;
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
