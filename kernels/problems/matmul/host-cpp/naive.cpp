// Matrix product, the order of the loops as in the formula.
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int l = 0; l < k; l++) sum += a[(long)i * k + l] * b[(long)l * n + j];
      c[(long)i * n + j] = sum;
    }
}
