// Once the buffers of the timed rotation are known, one call does the work of four and the next
// three do nothing.
//
// Catalog: A6
// Task: double
// Expect: any unsynchronised_work|output_not_written|launches_vary|fault_cuda_error
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static const float* seen_x[256];
  static float* seen_y[256];
  static int seen, calls;
  for (int i = 0; i < seen; ++i)
    if (seen_y[i] == y) {
      if (++calls % 4 != 0) return;
      for (int j = seen > 4 ? seen - 4 : 0; j < seen; ++j)
        twice<<<(n + 255) / 256, 256>>>(seen_x[j], seen_y[j], n);
      return;
    }
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (seen == 256) return;
  seen_x[seen] = x;
  seen_y[seen++] = y;
}
