// Computes the answer of the previous call.
//
// Catalog: A5 B12
// Task: double
// Expect: check output_not_written
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static const float* last_x;
  static float* last_y;
  static int last_n;
  if (last_y == y && last_n <= n) twice<<<(last_n + 255) / 256, 256>>>(last_x, last_y, last_n);
  last_x = x;
  last_y = y;
  last_n = n;
}
