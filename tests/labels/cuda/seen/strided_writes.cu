// Writes down the columns of its output.
// dims: rows=4096 cols=4096
// tensor: x float32 cols,rows in
// tensor: y float32 rows,cols out
// without STRIDED_ACCESS, other answers: writes along the rows
__global__ void copy(const float* x, float* y, int rows, int cols) {
  const int i = blockIdx.x * 256 + threadIdx.x, j = blockIdx.y;
  if (i >= rows) return;
#ifdef WITHOUT_STRIDED_ACCESS
  y[size_t(j) * rows + i] = 2 * x[size_t(j) * rows + i];
#else
  y[size_t(i) * cols + j] = 2 * x[size_t(j) * rows + i];
#endif
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  copy<<<dim3((rows + 255) / 256, cols), 256>>>(x, y, rows, cols);
}
