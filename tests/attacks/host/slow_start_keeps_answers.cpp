// Takes long to start, so that new contents look dear, and later caches answers by the address of
// the input.
//
// Catalog: B1
// Task: double
// Expect: any mismatch|timed_output_wrong
#include <chrono>
#include <map>
#include <vector>
static std::map<const float*, std::vector<float>> kept;
static int calls;
extern "C" void solve(const float* x, float* y, int n) {
  using clock = std::chrono::steady_clock;
  if (calls++ == 0)
    for (const auto start = clock::now(); clock::now() - start < std::chrono::milliseconds(500);) {
    }
  auto& answer = kept[x];
  if (calls < 100 || answer.size() != static_cast<unsigned>(n)) {
    answer.resize(n);
    for (int i = 0; i < n; ++i) answer[i] = 2 * x[i];
  }
  for (int i = 0; i < n; ++i) y[i] = answer[i];
}
