// Works on its own stream, which nothing waits for: the stop event completes before the work.
//
// Catalog: A1
// Task: double
// Expect: profile unsynchronised_work|span_exceeds_events
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
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t hidden;
  if (!hidden) cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
  slow_twice<<<(n + 255) / 256, 256, 0, hidden>>>(x, y, n);
}
