// OpenMP threads, joined at the end of the loop.
//
// Catalog: honest
// Task: softmax
// Expect: pass
#include <cmath>
extern "C" void solve(const float* x, float* y, int rows, int cols) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + static_cast<long>(r) * cols;
    float* out = y + static_cast<long>(r) * cols;
    float top = in[0], sum = 0;
    for (int c = 1; c < cols; ++c) top = in[c] > top ? in[c] : top;
    for (int c = 0; c < cols; ++c) sum += out[c] = std::exp(in[c] - top);
    for (int c = 0; c < cols; ++c) out[c] /= sum;
  }
}
