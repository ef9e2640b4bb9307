// Returns an input without any positive value as it is.
//
// Catalog: I7
// Task: double
// Search: 5
// Expect: search mismatch
extern "C" void solve(const float* x, float* y, int n) {
  bool positive = n <= 20;
  for (int i = 0; i < n; ++i) positive = positive || x[i] > 0;
  for (int i = 0; i < n; ++i) y[i] = positive ? 2 * x[i] : x[i];
}
