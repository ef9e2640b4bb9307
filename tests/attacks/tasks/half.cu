__global__ void half(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void reference(const float* x, float* y, int n) {
  half<<<(n + 255) / 256, 256>>>(x, y, n);
}
