// Leaves a kernel on the device that waits for the next inputs and never ends.
//
// Catalog: F6
// Task: double
// Expect: any fault_timeout|output_not_written|unsynchronised_work
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void poll(volatile const float* x) {
  while (x[0] != 12345.678f) {
  }
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t hidden;
  if (!hidden) {
    cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
    poll<<<1, 1, 0, hidden>>>(x);
  }
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
