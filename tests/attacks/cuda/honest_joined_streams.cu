// Two streams of its own, forked from the legacy stream and joined with it again.
//
// Catalog: honest
// Task: double
// Expect: pass
__global__ void part(const float* x, float* y, int from, int to) {
  const int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < to) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t streams[2];
  static cudaEvent_t start, done[2];
  if (!start) {
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    for (int i = 0; i < 2; ++i) {
      cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
    }
  }
  cudaEventRecord(start, nullptr);
  for (int i = 0; i < 2; ++i) {
    const int from = i ? n / 2 : 0, to = i ? n : n / 2;
    cudaStreamWaitEvent(streams[i], start);
    part<<<(to - from + 255) / 256, 256, 0, streams[i]>>>(x, y, from, to);
    cudaEventRecord(done[i], streams[i]);
    cudaStreamWaitEvent(nullptr, done[i]);
  }
}
