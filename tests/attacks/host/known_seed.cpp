// Regenerates the inputs from a common default seed.
//
// Catalog: B14
// Task: double
// Expect: check mismatch
#include <random>
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  std::mt19937 random(42);
  std::normal_distribution<float> normal;
  for (int i = 0; i < n; ++i) y[i] = 2 * normal(random);
}
