// Works on a hidden stream for a few microseconds only.
//
// Catalog: A1
// Task: double
// Expect: any unsynchronised_work|span_exceeds_events|faster_than_physics
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t hidden;
  if (!hidden) cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
  twice<<<(n + 255) / 256, 256, 0, hidden>>>(x, y, n);
}
