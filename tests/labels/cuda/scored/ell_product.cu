// Sparse matrix in ELLPACK times a vector: the columns are shuffled, so every product fetches a
// sector for one number.
// dims: rows=1048576
// tensor: column int32 rows,16 in permutation
// tensor: value float32 rows,16 in
// tensor: x float32 rows,16 in
// tensor: y float32 rows out
// without RANDOM_ACCESS, other answers: the columns are read but the vector is taken in order
// without DEPENDENCE: four partial sums per row
// without INTEGER_DIVISION, other answers: no wrap of the columns into the vector's length
__global__ void ell(const int* __restrict__ column, const float* __restrict__ value,
                    const float* __restrict__ x, float* __restrict__ y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
#ifdef WITHOUT_DEPENDENCE
  float sum[4] = {};
#else
  float sum[1] = {};
#endif
  constexpr int SUMS = sizeof sum / sizeof *sum;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const size_t p = size_t(k) * rows + r;
    int c = column[p];
#ifdef WITHOUT_RANDOM_ACCESS
    c = int(p) + (c < 0);
#endif
#ifndef WITHOUT_INTEGER_DIVISION
    if (k == 0) c = int(unsigned(c) % (16u * unsigned(rows)));
#endif
    sum[k % SUMS] += value[p] * x[c];
  }
  float all = 0;
  for (int k = 0; k < SUMS; ++k) all += sum[k];
  y[r] = all;
}
extern "C" void solve(const int* column, const float* value, const float* x, float* y, int rows) {
  ell<<<(rows + 255) / 256, 256>>>(column, value, x, y, rows);
}
