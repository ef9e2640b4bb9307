// Caches answers by size alone.
//
// Catalog: B2 B4
// Task: double
// Expect: check mismatch
#include <map>
#include <vector>
static std::map<int, std::vector<float>> kept;
extern "C" void solve(const float* x, float* y, int n) {
  auto& answer = kept[n];
  if (answer.empty()) {
    answer.resize(n);
    for (int i = 0; i < n; ++i) answer[i] = 2 * x[i];
  }
  for (int i = 0; i < n; ++i) y[i] = answer[i];
}
