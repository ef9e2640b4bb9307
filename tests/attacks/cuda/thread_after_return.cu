// Launches from its own thread after the call has returned: the build rejects starting threads.
//
// Catalog: A3
// Task: double
// Expect: build thread
#include <thread>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  std::thread([=] { twice<<<(n + 255) / 256, 256>>>(x, y, n); }).detach();
}
