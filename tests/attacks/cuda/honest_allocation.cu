// Allocates, copies and frees in every call, which is part of its time.
//
// Catalog: honest
// Task: double
// Expect: pass
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  float* copy;
  cudaMalloc(&copy, sizeof(float) * n);
  cudaMemcpyAsync(copy, x, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
  twice<<<(n + 255) / 256, 256>>>(copy, y, n);
  cudaFree(copy);
}
