// Allocates a workspace from the stream-ordered pool and frees it in every call.
//
// Catalog: honest
// Task: rowsum
// Expect: pass
__global__ void partial(const float* x, float* sums, int cols) {
  float sum = 0;
  for (int c = blockIdx.y * 64 + threadIdx.x; c < cols; c += 64 * gridDim.y)
    sum += x[static_cast<long long>(blockIdx.x) * cols + c];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x % 32 == 0)
    sums[(blockIdx.x * gridDim.y + blockIdx.y) * 2 + threadIdx.x / 32] = sum;
}
__global__ void total(const float* sums, float* y, int rows, int parts) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int i = 0; i < parts; ++i) sum += sums[r * parts + i];
  y[r] = sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  float* sums;
  cudaMallocAsync(&sums, sizeof(float) * rows * 16, nullptr);
  partial<<<dim3(rows, 8), 64>>>(x, sums, cols);
  total<<<(rows + 63) / 64, 64>>>(sums, y, rows, 16);
  cudaFreeAsync(sums, nullptr);
}
