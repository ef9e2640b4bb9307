// Takes long to start, so that new contents look dear, and caches answers by the address of the
// input once more calls of one size follow each other than a check makes. Even the shortest timing
// session makes twice as many.
//
// Catalog: B1
// Task: double
// Expect: any mismatch|timed_output_wrong
#include <chrono>
#include <map>
#include <vector>
static std::map<const float*, std::vector<float>> kept;
static int last_n, alike;
extern "C" void solve(const float* x, float* y, int n) {
  using clock = std::chrono::steady_clock;
  if (last_n == 0)
    for (const auto start = clock::now(); clock::now() - start < std::chrono::milliseconds(500);) {
    }
  alike = n == last_n ? alike + 1 : 0;
  last_n = n;
  auto& answer = kept[x];
  if (alike < 16 || answer.size() != static_cast<unsigned>(n)) {
    answer.resize(n);
    for (int i = 0; i < n; ++i) answer[i] = 2 * x[i];
  }
  for (int i = 0; i < n; ++i) y[i] = answer[i];
}
