// Caches answers by the address of the input.
//
// Catalog: B1
// Task: double
// Expect: any mismatch|timed_output_wrong
#include <map>
#include <vector>
static std::map<const float*, std::vector<float>> kept;
extern "C" void solve(const float* x, float* y, int n) {
  auto& answer = kept[x];
  if (answer.size() != static_cast<unsigned>(n)) {
    answer.resize(n);
    for (int i = 0; i < n; ++i) answer[i] = 2 * x[i];
  }
  for (int i = 0; i < n; ++i) y[i] = answer[i];
}
