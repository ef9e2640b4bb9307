// Caches answers by the address of the input.
//
// Catalog: B1
// Task: double
// Expect: any mismatch|timed_output_wrong|output_not_written
#include <map>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static std::map<const float*, std::pair<int, float*>> kept;
  auto& answer = kept[x];
  if (answer.first != n) {
    cudaMalloc(&answer.second, sizeof(float) * n);
    answer.first = n;
    twice<<<(n + 255) / 256, 256>>>(x, answer.second, n);
  }
  cudaMemcpyAsync(y, answer.second, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
}
