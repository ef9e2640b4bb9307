// Rounds the operands of a float32 product to half precision.
//
// Catalog: D1
// Task: matmul
// Expect: check mismatch
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += static_cast<float>(static_cast<_Float16>(a[i * k + l])) *
               static_cast<float>(static_cast<_Float16>(b[l * n + j]));
      c[i * n + j] = sum;
    }
}
