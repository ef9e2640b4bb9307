// Omits the maximum that keeps a softmax finite.
//
// Catalog: D4
// Task: softmax
// Expect: check nan_in_output|mismatch
#include <cmath>
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += y[c] = std::exp(x[c]);
    for (int c = 0; c < cols; ++c) y[c] /= sum;
  }
}
