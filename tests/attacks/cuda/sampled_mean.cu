// Uses the mean of the first eighth of each row for the whole row.
//
// Catalog: C2
// Task: meansquare
// Expect: check mismatch
__global__ void sampled(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols / 8; ++c)
    sum += x[static_cast<long long>(r) * cols + c] * x[static_cast<long long>(r) * cols + c];
  y[r] = sum / (cols / 8);
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  sampled<<<(rows + 255) / 256, 256>>>(x, y, rows, cols);
}
