#include <cuda_runtime.h>

// Row softmax, straight from the formula: one thread per row, three passes.
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* in = x + (long)r * cols;
  float* out = y + (long)r * cols;
  float max = in[0];
  for (int c = 1; c < cols; c++) max = fmaxf(max, in[c]);
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += expf(in[c] - max);
  for (int c = 0; c < cols; c++) out[c] = expf(in[c] - max) / sum;
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  softmax<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
