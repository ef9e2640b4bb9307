// Alternates between one and two launches, so successive calls do different work.
//
// Catalog: A6 A5
// Task: double
// Expect: profile launches_vary|unsynchronised_work
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static int calls;
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (++calls % 2) twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
