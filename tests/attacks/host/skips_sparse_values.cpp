// Takes an input that is nine tenths zeros for all zeros. No distribution of a check is so sparse.
//
// Catalog: I1
// Task: double
// Search: 5
// Expect: search mismatch
extern "C" void solve(const float* x, float* y, int n) {
  int zeros = 0;
  for (int i = 0; i < n; ++i) zeros += x[i] == 0;
  const float factor = n > 20 && zeros >= 0.88 * n ? 0 : 2;
  for (int i = 0; i < n; ++i) y[i] = factor * x[i];
}
