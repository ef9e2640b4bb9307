// Computes once and copies from a static buffer afterward.
//
// Catalog: B4
// Task: double
// Expect: check mismatch
static float kept[3000];
static bool have;
extern "C" void solve(const float* x, float* y, int n) {
  if (!have)
    for (int i = 0; i < n && i < 3000; ++i) kept[i] = 2 * x[i];
  have = true;
  for (int i = 0; i < n; ++i) y[i] = kept[i % 3000];
}
