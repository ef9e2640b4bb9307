// Three passes in single precision, the sums in the order of the columns.
#include <cmath>

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int rows,
                      int cols) {
  for (long long r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += in[c];
    const float mean = sum / static_cast<float>(cols);
    float squares = 0;
    for (int c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + 1e-5f);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = (in[c] - mean) * scale * gamma[c] + beta[c];
  }
}
