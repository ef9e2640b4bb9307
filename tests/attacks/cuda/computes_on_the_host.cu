// Computes on the host: its time includes the copies in both directions.
//
// Catalog: F5
// Task: double
// Expect: time 100000
#include <vector>
extern "C" void solve(const float* x, float* y, int n) {
  std::vector<float> values(n);
  cudaMemcpy(values.data(), x, sizeof(float) * n, cudaMemcpyDeviceToHost);
  for (float& value : values) value *= 2;
  cudaMemcpy(y, values.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
}
