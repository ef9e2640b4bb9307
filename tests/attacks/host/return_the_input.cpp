// Returns its input.
//
// Catalog: B11 C4
// Task: double
// Expect: check mismatch
#include <cstring>
extern "C" void solve(const float* x, float* y, int n) {
  std::memcpy(y, x, sizeof(float) * n);
}
