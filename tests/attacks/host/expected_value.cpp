// Returns the expected mean square of standard normal inputs, which is one.
//
// Catalog: C2 B16
// Task: meansquare
// Expect: check mismatch
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  (void)x;
  (void)cols;
  for (int r = 0; r < rows; ++r) y[r] = 1;
}
