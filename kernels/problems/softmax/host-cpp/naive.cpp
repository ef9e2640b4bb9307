#include <cmath>

// Row softmax, straight from the formula: three passes over each row.
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; r++) {
    double max = x[(long)r * cols];
    for (int c = 1; c < cols; c++) {
      if (x[(long)r * cols + c] > max) max = x[(long)r * cols + c];
    }
    double sum = 0;
    for (int c = 0; c < cols; c++) {
      sum += exp(x[(long)r * cols + c] - max);
    }
    for (int c = 0; c < cols; c++) {
      y[(long)r * cols + c] = exp(x[(long)r * cols + c] - max) / sum;
    }
  }
}
