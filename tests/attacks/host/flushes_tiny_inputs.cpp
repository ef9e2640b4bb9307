// Takes an input without any value above 2^-5.5 for zeros.
//
// Catalog: I5
// Task: double
// Search: 5
// Expect: search mismatch|output_not_written|flushes_small_values
extern "C" void solve(const float* x, float* y, int n) {
  float most = 0;
  for (int i = 0; i < n; ++i) most = x[i] > most ? x[i] : -x[i] > most ? -x[i] : most;
  for (int i = 0; i < n; ++i) y[i] = n > 20 && most < 0.022f ? 0 : 2 * x[i];
}
