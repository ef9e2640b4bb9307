// Where an input is sorted from end to end, repeats every 64th answer until the next.
//
// Catalog: I3
// Task: double
// Search: 5
// Expect: search mismatch
extern "C" void solve(const float* x, float* y, int n) {
  bool rises = n > 20, falls = n > 20;
  for (int i = 1; i < n; ++i) {
    rises = rises && x[i] >= x[i - 1];
    falls = falls && x[i] <= x[i - 1];
  }
  for (int i = 0; i < n; ++i) y[i] = rises || falls ? 2 * x[i / 64 * 64] : 2 * x[i];
}
