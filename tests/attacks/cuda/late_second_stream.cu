// Joins one of its streams but not the other, slower one.
//
// Catalog: A2
// Task: double
// Expect: profile unsynchronised_work|span_exceeds_events
__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void part(const float* x, float* y, int from, int to, long long cycles) {
  spin(cycles);
  const int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < to) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t streams[2];
  static cudaEvent_t done;
  if (!streams[0]) {
    cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  const int half = n / 2;
  part<<<(n + 255) / 256, 256, 0, streams[0]>>>(x, y, 0, half, 1000);
  part<<<(n + 255) / 256, 256, 0, streams[1]>>>(x, y, half, n, 200'000);
  cudaEventRecord(done, streams[0]);
  cudaStreamWaitEvent(nullptr, done);
}
