// Normalizes a few short rows by three kernels, one for the means, one for the variances and
// one for the results.
// dims: rows=64 cols=1024
// tensor: x float32 rows,cols in
// tensor: mean float32 rows out
// tensor: variance float32 rows out
// tensor: y float32 rows,cols out
// without LAUNCHES: one kernel does all three
// without SPECIAL_FUNCTIONS, other answers: no root
// without REPEATED_READS: four neighbors per thread, so means and variances are read less often
#ifdef WITHOUT_REPEATED_READS
constexpr int EACH = 4;
#else
constexpr int EACH = 1;
#endif
__device__ __forceinline__ float add_up(float v, float* partial) {
  for (int lanes = 16; lanes; lanes /= 2) v += __shfl_xor_sync(~0u, v, lanes);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = partial[threadIdx.x % 8];
  for (int lanes = 4; lanes; lanes /= 2) v += __shfl_xor_sync(~0u, v, lanes);
  return v;
}
__device__ __forceinline__ float scaled(float v, float mean, float variance) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return (v - mean) * (1.5f - 0.5f * variance);
#else
  return (v - mean) * rsqrtf(variance + 1e-5f);
#endif
}
__device__ __forceinline__ float mean_of(const float* __restrict__ row, int cols, float* partial) {
  float sum = 0;
#pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += 256) sum += row[c];
  return add_up(sum, partial) / cols;
}
__device__ __forceinline__ float variance_of(const float* __restrict__ row, int cols, float mean,
                                             float* partial) {
  float sum = 0;
#pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += 256) sum += (row[c] - mean) * (row[c] - mean);
  return add_up(sum, partial) / cols;
}
__global__ void __launch_bounds__(256)
    means(const float* __restrict__ x, float* __restrict__ mean, int cols) {
  __shared__ float partial[8];
  const float m = mean_of(x + size_t(blockIdx.x) * cols, cols, partial);
  if (threadIdx.x == 0) mean[blockIdx.x] = m;
}
__global__ void __launch_bounds__(256)
    variances(const float* __restrict__ x, const float* __restrict__ mean,
              float* __restrict__ variance, int cols) {
  __shared__ float partial[8];
  const float v = variance_of(x + size_t(blockIdx.x) * cols, cols, mean[blockIdx.x], partial);
  if (threadIdx.x == 0) variance[blockIdx.x] = v;
}
__global__ void __launch_bounds__(256)
    results(const float* __restrict__ x, const float* __restrict__ mean,
            const float* __restrict__ variance, float* __restrict__ y, int cols) {
  const int row = blockIdx.y;
  const float m = mean[row], v = variance[row];
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const int c = (blockIdx.x * EACH + k) * 256 + threadIdx.x;
    if (c < cols) y[size_t(row) * cols + c] = scaled(x[size_t(row) * cols + c], m, v);
  }
}
__global__ void __launch_bounds__(256)
    together(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ variance,
             float* __restrict__ y, int cols) {
  __shared__ float partial[2][8];
  const float* row = x + size_t(blockIdx.x) * cols;
  const float m = mean_of(row, cols, partial[0]), v = variance_of(row, cols, m, partial[1]);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = m;
    variance[blockIdx.x] = v;
  }
#pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += 256)
    y[size_t(blockIdx.x) * cols + c] = scaled(row[c], m, v);
}
extern "C" void solve(const float* x, float* mean, float* variance, float* y, int rows, int cols) {
#ifdef WITHOUT_LAUNCHES
  together<<<rows, 256>>>(x, mean, variance, y, cols);
#else
  means<<<rows, 256>>>(x, mean, cols);
  variances<<<rows, 256>>>(x, mean, variance, cols);
  results<<<dim3((cols + 256 * EACH - 1) / (256 * EACH), rows), 256>>>(x, mean, variance, y, cols);
#endif
}
