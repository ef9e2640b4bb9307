// Multiplies by the diagonal only, which a fixture with a diagonal matrix would not detect.
//
// Catalog: C7
// Task: matmul
// Expect: check mismatch
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[i * n + j] = i < k && j < k ? a[i * k + j] * b[j * n + j] : 0;
}
