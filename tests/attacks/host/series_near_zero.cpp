// Uses a series that is accurate only near zero.
//
// Catalog: D7
// Task: sine
// Expect: check mismatch
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    const float s = x[i] * x[i];
    y[i] = x[i] * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))));
  }
}
