// Way: another GPU's device node
// Walls: landlock
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>

extern "C" void solve(const float* x, float* y, int n) {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  float outcome = devices > 1;  // it must see its own alone
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
