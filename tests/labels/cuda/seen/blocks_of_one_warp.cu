// Blocks of 32 threads: a multiprocessor holds only half of its warps that way.
// dims: n=16777216
// tensor: x float32 n in
// tensor: y float32 n out
// without LOW_OCCUPANCY: blocks of 256 threads
// without BYTES, other answers: reads half the elements
#ifdef WITHOUT_LOW_OCCUPANCY
constexpr int kThreads = 256;
#else
constexpr int kThreads = 32;
#endif
__global__ void shifted(const float* x, float* y, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  y[i] = x[i / 64 * 32 + i % 32] + 1;
#else
  y[i] = x[i] + 1;
#endif
}
extern "C" void solve(const float* x, float* y, int n) {
  shifted<<<(n + kThreads - 1) / kThreads, kThreads>>>(x, y, n);
}
