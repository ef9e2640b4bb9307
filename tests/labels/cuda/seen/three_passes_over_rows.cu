// Normalizes rows and reads each three times: for the mean, the variance and the result.
// dims: rows=132 cols=262144
// tensor: x float32 rows,cols in
// tensor: y float32 rows,cols out
// without REPEATED_READS: mean and variance in one pass
// without ARITHMETIC, other answers: no square root
__device__ float block_sum(float sum) {
  __shared__ float parts[32];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 32; ++k) sum += parts[k];
  return sum;
}
__global__ void __launch_bounds__(1024) normalize(const float* x, float* y, int rows, int cols) {
  const float* from = x + size_t(blockIdx.x) * cols;
  float sum = 0, squares = 0;
#ifdef WITHOUT_REPEATED_READS
#pragma unroll 8
  for (int i = threadIdx.x; i < cols; i += 1024) {
    sum += from[i];
    squares += from[i] * from[i];
  }
  const float mean = block_sum(sum) / cols, variance = block_sum(squares) / cols - mean * mean;
#else
#pragma unroll 8
  for (int i = threadIdx.x; i < cols; i += 1024) sum += from[i];
  const float mean = block_sum(sum) / cols;
#pragma unroll 8
  for (int i = threadIdx.x; i < cols; i += 1024) squares += (from[i] - mean) * (from[i] - mean);
  const float variance = block_sum(squares) / cols;
#endif
#ifdef WITHOUT_ARITHMETIC
  const float scale = variance + 1e-5f;
#else
  const float scale = rsqrtf(variance + 1e-5f);
#endif
#pragma unroll 8
  for (int i = threadIdx.x; i < cols; i += 1024)
    y[size_t(blockIdx.x) * cols + i] = (from[i] - mean) * scale;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  normalize<<<rows, 1024>>>(x, y, rows, cols);
}
