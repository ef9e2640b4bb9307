#include <cmath>
extern "C" void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] + 1e-7 * x[i]);
}
