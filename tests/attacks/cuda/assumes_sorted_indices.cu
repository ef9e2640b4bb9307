// Assumes that the indices are sorted.
//
// Catalog: C7
// Task: gather
// Expect: check mismatch
__global__ void gather(const float* x, const int* index, float* y, int n) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[0] + (index[n - 1] - index[0]) * i / n];
}
extern "C" void solve(const float* x, const int* index, float* y, int n) {
  gather<<<(n + 255) / 256, 256>>>(x, index, y, n);
}
