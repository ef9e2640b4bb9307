// A plain loop.
//
// Catalog: honest
// Task: double
// Expect: pass
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i];
}
