__global__ void apply(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<float>(x[i] + 1e-7 * x[i]);
}
extern "C" void reference(const float* x, float* y, int n) {
  apply<<<(n + 255) / 256, 256>>>(x, y, n);
}
