// Keeps a table between calls that does not depend on the inputs.
//
// Catalog: honest
// Task: sine
// Expect: pass
#include <cmath>
static float table[1025];
static bool made;
extern "C" void solve(const float* x, float* y, int n) {
  constexpr double step = 6.283185307179586 / 1024;
  if (!made)
    for (int i = 0; i <= 1024; ++i) table[i] = static_cast<float>(std::sin(i * step));
  made = true;
  for (int i = 0; i < n; ++i) {
    const double at = x[i] - std::floor(x[i] / 6.283185307179586) * 6.283185307179586;
    const int place = static_cast<int>(at / step);
    const double rest = at - place * step;
    y[i] = static_cast<float>(table[place] * std::cos(rest) +
                              table[(place + 256) % 1024] * std::sin(rest));
  }
}
