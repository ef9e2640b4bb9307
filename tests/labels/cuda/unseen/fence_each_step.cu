// Makes each of its writes visible to the whole device before the next.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without FENCES: no fence
__global__ void running(const float* x, float* y, int n) {
  const int threads = gridDim.x * blockDim.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    sum += x[i];
    y[i] = sum;
#ifndef WITHOUT_FENCES
    __threadfence();
#endif
  }
}
extern "C" void solve(const float* x, float* y, int n) {
  running<<<264, 256>>>(x, y, n);
}
