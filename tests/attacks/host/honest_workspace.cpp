// Allocates a workspace in every call and packs an operand into it.
//
// Catalog: honest
// Task: matmul
// Expect: pass
#include <vector>
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  std::vector<float> packed(static_cast<unsigned long>(n) * k);
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) packed[static_cast<unsigned long>(j) * k + l] = b[l * n + j];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[i * k + l] * packed[static_cast<unsigned long>(j) * k + l];
      c[i * n + j] = sum;
    }
}
