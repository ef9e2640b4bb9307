// The host waits for the device after each of twenty kernels.
// dims: n=1048576
// tensor: x float32 n in
// tensor: y float32 n out
// without HOST_WAITS: launched one after another without waiting
__global__ void smooth(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] + 0.5f * y[i];
}
__global__ void clear(float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 0;
}
extern "C" void solve(const float* x, float* y, int n) {
  clear<<<(n + 255) / 256, 256>>>(y, n);
  for (int k = 0; k < 20; ++k) {
    smooth<<<(n + 255) / 256, 256>>>(x, y, n);
#ifndef WITHOUT_HOST_WAITS
    cudaStreamSynchronize(0);
#endif
  }
}
