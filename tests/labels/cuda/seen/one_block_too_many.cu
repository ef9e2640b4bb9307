// Four blocks more than fit at once, so all wait for a second wave.
// dims: n=34816
// tensor: x float32 n in
// tensor: y float32 n out
// without IMBALANCE, other answers: as many blocks as fit at once
extern __shared__ float unused[];
__global__ void __launch_bounds__(256) steps(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 8
  for (int k = 0; k < 16384; ++k) {
    a = a * 0.5f + 0.1f;
    b = b * 0.5f + 0.2f;
    c = c * 0.5f + 0.3f;
    d = d * 0.5f + 0.4f;
  }
  y[i] = a + b + c + d;
}
extern "C" void solve(const float* x, float* y, int n) {
  constexpr int kBytes = 120 * 1024;
  cudaFuncSetAttribute(steps, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
#ifdef WITHOUT_IMBALANCE
  const int blocks = min(132, (n + 255) / 256);
#else
  const int blocks = (n + 255) / 256;
#endif
  steps<<<blocks, 256, kBytes>>>(x, y, n);
}
