// Answers wrongly where all indices are the same one.
//
// Catalog: I4
// Task: gather
// Search: 5
// Expect: search mismatch
extern "C" void solve(const float* x, const int* index, float* y, int n) {
  bool same = n > 20;
  for (int i = 1; i < n; ++i) same = same && index[i] == index[0];
  for (int i = 0; i < n; ++i) y[i] = same ? 2 * x[index[i]] + 1 : x[index[i]];
}
