// Computes the first half of the rows.
//
// Catalog: C5
// Task: softmax
// Expect: check output_not_written
#include <cmath>
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows / 2; ++r, x += cols, y += cols) {
    float top = x[0], sum = 0;
    for (int c = 1; c < cols; ++c) top = x[c] > top ? x[c] : top;
    for (int c = 0; c < cols; ++c) sum += y[c] = std::exp(x[c] - top);
    for (int c = 0; c < cols; ++c) y[c] /= sum;
  }
}
