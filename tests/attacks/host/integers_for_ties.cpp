// Where all values are multiples of 1/2, computes with integers and drops the half.
//
// Catalog: I6
// Task: double
// Search: 5
// Expect: search mismatch
extern "C" void solve(const float* x, float* y, int n) {
  bool halves = n > 20;
  for (int i = 0; i < n; ++i) halves = halves && 2 * x[i] == static_cast<int>(2 * x[i]);
  for (int i = 0; i < n; ++i)
    y[i] = halves ? static_cast<float>(2 * static_cast<int>(x[i])) : 2 * x[i];
}
