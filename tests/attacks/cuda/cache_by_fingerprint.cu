// Caches answers by sixteen elements of the input: every timed call changes a few others.
//
// Catalog: B3
// Task: double
// Expect: profile timed_output_wrong
#include <array>

#include <map>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static std::map<std::array<float, 17>, float*> kept;
  std::array<float, 17> key{};
  for (int i = 0; i < 16; ++i)
    cudaMemcpy(&key[i], x + static_cast<long>(n - 1) * i / 15, sizeof(float),
               cudaMemcpyDeviceToHost);
  key[16] = static_cast<float>(n);
  float*& answer = kept[key];
  if (!answer) {
    cudaMalloc(&answer, sizeof(float) * n);
    twice<<<(n + 255) / 256, 256>>>(x, answer, n);
  }
  cudaMemcpyAsync(y, answer, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
}
