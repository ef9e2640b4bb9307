// Opts in to more dynamic shared memory than the default limit.
//
// Catalog: honest
// Task: softmax
// Expect: pass
__global__ void softmax(const float* x, float* y, int cols) {
  extern __shared__ float row[];
  x += static_cast<long long>(blockIdx.x) * cols;
  y += static_cast<long long>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += 32) row[c] = x[c];
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) top = fmaxf(top, row[c]);
  for (int mask = 16; mask > 0; mask /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, mask));
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] = expf(row[c] - top);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  for (int c = threadIdx.x; c < cols; c += 32) y[c] = row[c] / sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10);
  softmax<<<rows, 32, 96 << 10>>>(x, y, cols);
}
