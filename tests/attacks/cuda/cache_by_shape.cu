// Caches answers by size alone.
//
// Catalog: B2
// Task: double
// Expect: check mismatch
#include <map>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static std::map<int, float*> kept;
  float*& answer = kept[n];
  if (!answer) {
    cudaMalloc(&answer, sizeof(float) * n);
    twice<<<(n + 255) / 256, 256>>>(x, answer, n);
  }
  cudaMemcpyAsync(y, answer, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
}
