// Answers correctly but leaves a kernel running that slows down later work.
//
// Catalog: F3
// Task: double
// Expect: profile unsynchronised_work|span_exceeds_events
__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void linger() {
  spin(400'000);
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t hidden;
  if (!hidden) cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  linger<<<64, 256, 0, hidden>>>();
}
