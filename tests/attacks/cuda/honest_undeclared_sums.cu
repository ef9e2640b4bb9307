// Sums rows of an input that fits into L2, in a task without declared work.
//
// Catalog: honest
// Task: undeclared_rowsum
// Expect: pass
__global__ void sums(const float* x, float* y, int cols) {
  const float* row = x + static_cast<long>(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
  __shared__ float parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) sum += parts[i];
  y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  sums<<<rows, 256>>>(x, y, cols);
}
