// Three passes in single precision that the compiler turns into vector instructions.
//
// ABLATE_compute_ilp_unroll_register_tile keeps the sums in the order of the columns.
#include <cmath>

namespace {

float sum_of(const float* in, int cols) {
  float sum = 0;
#ifndef ABLATE_compute_ilp_unroll_register_tile
#pragma omp simd reduction(+ : sum)
#endif
  for (int c = 0; c < cols; ++c) sum += in[c];
  return sum;
}

float squares_of(const float* in, int cols, float mean) {
  float squares = 0;
#ifndef ABLATE_compute_ilp_unroll_register_tile
#pragma omp simd reduction(+ : squares)
#endif
  for (int c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
  return squares;
}

}  // namespace

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int rows,
                      int cols) {
  for (long long r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* out = y + r * cols;
    const float mean = sum_of(in, cols) / static_cast<float>(cols);
    const float scale = 1 / std::sqrt(squares_of(in, cols, mean) / static_cast<float>(cols) + 1e-5f);
#pragma omp simd
    for (int c = 0; c < cols; ++c) out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
  }
}
