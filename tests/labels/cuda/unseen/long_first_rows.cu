// Row sums of a triangle, a block per row in falling length: a few blocks have most of the work.
// dims: rows=528 cols=65536
// tensor: x float32 rows,cols in
// tensor: y float32 rows out
// without IMBALANCE, other answers: the same number of elements, as many in every row
__device__ int length(int row, int cols) {
#ifdef WITHOUT_IMBALANCE
  return int(cols * 129ll / 4224);
#else
  return row % 66 == 65 ? cols : int(cols * 4ll / 256);
#endif
}
__global__ void __launch_bounds__(256) sums(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x, count = length(row, cols);
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += 256) {
    const float v = x[size_t(row) * cols + i];
    sum += v / (1 + v * v);
  }
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  __shared__ float parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) sum += parts[k];
    y[row] = sum;
  }
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  sums<<<rows, 256>>>(x, y, rows, cols);
}
