// Triggers its dependent launch at once, so that the last kernel of the chain starts early. The
// stop event waits for both, so the measured time is the real one.
//
// Catalog: A16
// Task: double
// Expect: time 100000
__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void early_twice(const float* x, float* y, int n) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  spin(200'000);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void last_of_chain() {}
extern "C" void solve(const float* x, float* y, int n) {
  early_twice<<<(n + 255) / 256, 256>>>(x, y, n);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, last_of_chain);
}
