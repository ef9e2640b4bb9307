// Computes once into a device global and copies from there afterward.
//
// Catalog: B4
// Task: double
// Expect: check mismatch
__device__ float kept[1048576];
__global__ void fill(const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) kept[i] = 2 * x[i];
}
__global__ void copy(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = kept[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static bool have;
  if (!have) fill<<<(n + 255) / 256, 256>>>(x, n);
  have = true;
  copy<<<(n + 255) / 256, 256>>>(y, n);
}
