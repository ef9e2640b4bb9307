#include <algorithm>
#include <cmath>
extern "C" void reference(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    const double top = *std::max_element(x, x + cols);
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(x[c] - top);
    for (int c = 0; c < cols; ++c) y[c] = static_cast<float>(std::exp(x[c] - top) / sum);
  }
}
