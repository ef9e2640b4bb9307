// One block launches the kernel that does the work.
//
// Catalog: honest
// Task: double
// Expect: pass
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void planner(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
extern "C" void solve(const float* x, float* y, int n) {
  planner<<<1, 1>>>(x, y, n);
}
