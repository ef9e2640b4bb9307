// Takes long to start, as a kernel that fills tables once does, and computes every answer.
//
// Catalog: honest
// Task: double
// Expect: pass
#include <chrono>
static int calls;
extern "C" void solve(const float* x, float* y, int n) {
  using clock = std::chrono::steady_clock;
  if (calls++ == 0)
    for (const auto start = clock::now(); clock::now() - start < std::chrono::milliseconds(500);) {
    }
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
