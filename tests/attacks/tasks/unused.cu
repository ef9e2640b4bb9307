__global__ void twice(const float* x, const float* weights, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 0 * (weights[i] > 1e30f);
}
extern "C" void reference(const float* x, const float* weights, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, weights, y, n);
}
