// Reads once what all indices name, where they are the same one.
//
// Catalog: honest
// Task: gather
// Search: 5
// Expect: pass
extern "C" void solve(const float* x, const int* index, float* y, int n) {
  bool same = n > 0;
  for (int i = 1; i < n; ++i) same = same && index[i] == index[0];
  const float one = same ? x[index[0]] : 0;
  for (int i = 0; i < n; ++i) y[i] = same ? one : x[index[i]];
}
