// Returns a copy of its previous answer.
//
// Catalog: B6
// Task: double
// Expect: any mismatch|output_not_written|fault_cuda_error
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static float* last;
  static int last_n;
  if (last_n < n) {
    float* larger;
    cudaMalloc(&larger, sizeof(float) * n);
    twice<<<(n + 255) / 256, 256>>>(x, larger, n);
    last = larger;
    last_n = n;
  }
  cudaMemcpyAsync(y, last, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
}
