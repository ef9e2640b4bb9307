// A transposition whose reads go down the columns.
// dims: rows=4096 cols=4096
// tensor: x float32 rows,cols in
// tensor: y float32 cols,rows out
// without STRIDED_ACCESS: through a tile of shared memory, contiguous on both sides
__global__ void transpose(const float* x, float* y, int rows, int cols) {
#ifdef WITHOUT_STRIDED_ACCESS
  __shared__ float tile[32][33];
  const int col = blockIdx.y * 32, row = blockIdx.x * 32;
  for (int i = threadIdx.y; i < 32; i += 8)
    if (row + i < rows && col + threadIdx.x < cols)
      tile[i][threadIdx.x] = x[size_t(row + i) * cols + col + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8)
    if (col + i < cols && row + threadIdx.x < rows)
      y[size_t(col + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
#else
  const int row = blockIdx.x * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += 8) {
    const int col = blockIdx.y * 32 + i;
    if (row < rows && col < cols) y[size_t(col) * rows + row] = x[size_t(row) * cols + col];
  }
#endif
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  transpose<<<dim3((rows + 31) / 32, (cols + 31) / 32), dim3(32, 8)>>>(x, y, rows, cols);
}
