#include <vector>

// Matrix product, accumulated in double, row by row.
extern "C" void reference(const float* a, const float* b, float* c, int m, int n, int k) {
  std::vector<double> row(n);
  for (int i = 0; i < m; ++i) {
    row.assign(n, 0.0);
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j)
        row[j] +=
            static_cast<double>(a[static_cast<long>(i) * k + l]) * b[static_cast<long>(l) * n + j];
    for (int j = 0; j < n; ++j) c[static_cast<long>(i) * n + j] = static_cast<float>(row[j]);
  }
}
