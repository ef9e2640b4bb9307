#include <algorithm>
#include <cmath>

// Row softmax, accumulated in double precision.
extern "C" void reference(const float* x, float* y, int rows, int cols) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + static_cast<long>(r) * cols;
    float* out = y + static_cast<long>(r) * cols;
    const double top = *std::max_element(in, in + cols);
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(in[c] - top);
    for (int c = 0; c < cols; ++c) out[c] = static_cast<float>(std::exp(in[c] - top) / sum);
  }
}
