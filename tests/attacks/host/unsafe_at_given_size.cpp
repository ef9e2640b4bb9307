// Omits the maximum at the timed size: large inputs overflow.
//
// Catalog: C16 D4
// Task: softmax
// Expect: check nan_in_output|mismatch
#include <cmath>
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float top = 0, sum = 0;
    if (cols != 200)
      for (int c = 0; c < cols; ++c) top = c == 0 || x[c] > top ? x[c] : top;
    for (int c = 0; c < cols; ++c) sum += y[c] = std::exp(x[c] - top);
    for (int c = 0; c < cols; ++c) y[c] /= sum;
  }
}
