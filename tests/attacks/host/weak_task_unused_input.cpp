// Ignores an input that has no effect: the task is reported as weak.
//
// Catalog: C3
// Task: unused
// Expect: admit input_without_effect
extern "C" void solve(const float* x, const float* weights, float* y, int n) {
  (void)weights;
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
