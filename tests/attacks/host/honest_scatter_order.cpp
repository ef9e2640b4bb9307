// Processes the indices backward, in blocks.
//
// Catalog: honest
// Task: gather
// Expect: pass
extern "C" void solve(const float* x, const int* index, float* y, int n) {
  for (int start = n / 64 * 64; start >= 0; start -= 64)
    for (int i = start; i < n && i < start + 64; ++i) y[i] = x[index[i]];
}
