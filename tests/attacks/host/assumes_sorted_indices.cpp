// Assumes that the indices are sorted.
//
// Catalog: C7
// Task: gather
// Expect: check mismatch
extern "C" void solve(const float* x, const int* index, float* y, int n) {
  const int first = index[0], last = index[n - 1];
  for (int i = 0; i < n; ++i) y[i] = x[first + static_cast<long>(last - first) * i / n];
}
