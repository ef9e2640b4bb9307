// A stencil whose neighbors come from the caches: memory moves each element once all the same.
// dims: rows=4096 cols=4096
// tensor: x float32 rows,cols in
// tensor: y float32 rows,cols out
// without BYTES, other answers: writes every second row
// without REPEATED_READS: rows through shared memory
// without ARITHMETIC, other answers: adds without weights
__global__ void __launch_bounds__(256) stencil(const float* x, float* y, int rows, int cols) {
  const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  const int j = blockIdx.x * 32 + tx, i = blockIdx.y * 8 + ty;
  const auto at = [&](int r, int c) {
    return x[size_t(min(max(r, 0), rows - 1)) * cols + min(max(c, 0), cols - 1)];
  };
#ifdef WITHOUT_REPEATED_READS
  __shared__ float tile[10][34];
  for (int k = threadIdx.x; k < 340; k += 256)
    tile[k / 34][k % 34] = at(int(blockIdx.y) * 8 + k / 34 - 1, int(blockIdx.x) * 32 + k % 34 - 1);
  __syncthreads();
  const float c = tile[ty + 1][tx + 1], u = tile[ty][tx + 1], d = tile[ty + 2][tx + 1];
  const float l = tile[ty + 1][tx], r = tile[ty + 1][tx + 2];
#else
  const float c = at(i, j), u = at(i - 1, j), d = at(i + 1, j), l = at(i, j - 1), r = at(i, j + 1);
#endif
  if (i >= rows || j >= cols) return;
#ifdef WITHOUT_BYTES
  if (i % 2) return;
#endif
#ifdef WITHOUT_ARITHMETIC
  y[size_t(i) * cols + j] = c + u + d + l + r;
#else
  y[size_t(i) * cols + j] = 0.5f * c + 0.125f * (u + d + l + r);
#endif
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  stencil<<<dim3((cols + 31) / 32, (rows + 7) / 8), 256>>>(x, y, rows, cols);
}
