// Honest for as many calls as a check and a warm-up have, then does half of the work.
//
// Catalog: A12
// Task: double
// Expect: profile unsynchronised_work|timed_output_wrong|launches_vary
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static int calls;
  const int todo = ++calls > 60 ? n / 2 : n;
  twice<<<(todo + 255) / 256, 256>>>(x, y, todo);
}
