// All blocks meet at a counter in memory after each step.
// dims: n=33792
// tensor: x float32 n in
// tensor: y float32 n out
// without GRID_BARRIERS: no block waits for another
__device__ unsigned arrived;
__global__ void start() {
  arrived = 0;
}
__global__ void __launch_bounds__(256) steps(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int step = 1; step <= 64; ++step) {
    v = v * 0.5f + 1;
#ifndef WITHOUT_GRID_BARRIERS
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(&arrived, 1);
      while (*(volatile unsigned*)&arrived < step * gridDim.x) {
      }
    }
    __syncthreads();
#endif
  }
  for (int k = i; k < n; k += gridDim.x * 256) y[k] = k == i ? v : x[k];
}
extern "C" void solve(const float* x, float* y, int n) {
  start<<<1, 1>>>();
  steps<<<132, 256>>>(x, y, n);
}
