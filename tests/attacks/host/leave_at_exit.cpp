// Registers an exit handler. Output of a worker that is ending is not read.
//
// Catalog: E2
// Task: double
// Expect: time 1
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int n) {
  std::atexit([] {});
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
