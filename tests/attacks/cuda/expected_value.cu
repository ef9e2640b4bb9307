// Returns the expected mean square of standard normal inputs, which is one.
//
// Catalog: C2 B16
// Task: meansquare
// Expect: check mismatch
__global__ void ones(float* y, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] = 1;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  (void)x;
  (void)cols;
  ones<<<(rows + 255) / 256, 256>>>(y, rows);
}
