#include <algorithm>
#include <cmath>

// Row softmax: one exponential per element, rows shared among the cores.
extern "C" void solve(const float* x, float* y, int rows, int cols) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) {
    const float* in = x + static_cast<long>(r) * cols;
    float* out = y + static_cast<long>(r) * cols;
    const float top = *std::max_element(in, in + cols);
    float sum = 0;
    for (int c = 0; c < cols; ++c) {
      out[c] = std::exp(in[c] - top);
      sum += out[c];
    }
    const float scale = 1 / sum;
    for (int c = 0; c < cols; ++c) out[c] *= scale;
  }
}
