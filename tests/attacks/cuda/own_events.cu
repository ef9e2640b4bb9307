// Defines its own functions to record and compare events so that the timer might call them. The
// timer does not: the measured time is the real 0.2 ms.
//
// Catalog: A9 A17
// Task: double
// Expect: time 100000
__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void slow_twice(const float* x, float* y, int n) {
  spin(200'000);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0.001f;
  return cudaSuccess;
}
extern "C" cudaError_t cuEventElapsedTime(float* ms, void*, void*) {
  *ms = 0.001f;
  return cudaSuccess;
}
extern "C" void solve(const float* x, float* y, int n) {
  slow_twice<<<132, 256>>>(x, y, 132 * 256 < n ? 132 * 256 : n);
  slow_twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
