// Caches answers by sixteen elements of the input: every timed call changes a few others.
//
// Catalog: B3
// Task: double
// Expect: profile timed_output_wrong
#include <array>
#include <map>
#include <vector>
static std::map<std::array<float, 17>, std::vector<float>> kept;
extern "C" void solve(const float* x, float* y, int n) {
  std::array<float, 17> key{};
  for (int i = 0; i < 16; ++i) key[i] = x[static_cast<long>(n - 1) * i / 15];
  key[16] = static_cast<float>(n);
  auto& answer = kept[key];
  if (answer.empty()) {
    answer.resize(n);
    for (int i = 0; i < n; ++i) answer[i] = 2 * x[i];
  }
  for (int i = 0; i < n; ++i) y[i] = answer[i];
}
