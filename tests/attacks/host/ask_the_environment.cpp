// Looks for traces of the judge in its environment: the build rejects the function.
//
// Catalog: A13 E8
// Task: double
// Expect: build getenv
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int n) {
  if (std::getenv("BENCHMARK")) return;
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
