// Walsh-Hadamard transform of the rows of a matrix, as before quantization by rotated codes.
// dims: rows=16 cols=1024
// tensor: x float32 rows,cols in
// tensor: y float32 rows,cols out
// without LAUNCHES: one kernel does all stages of a row in shared memory
// without INTEGER_DIVISION: finds the partners by shifts and masks
__device__ int lower_of(int pair, int half, int stage) {
#ifdef WITHOUT_INTEGER_DIVISION
  return ((pair >> stage) << (stage + 1)) | (pair & (half - 1));
#else
  return pair / half * 2 * half + pair % half;
#endif
}

#ifdef WITHOUT_LAUNCHES
__global__ void __launch_bounds__(1024)
    transform(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  const int base = blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += 1024) row[i] = x[base + i] * 0.03125f;
  int stage = 0;
  for (int half = 1; half < cols; half *= 2, ++stage) {
    __syncthreads();
    for (int pair = threadIdx.x; pair < cols / 2; pair += 1024) {
      const int i = lower_of(pair, half, stage);
      const float a = row[i], b = row[i + half];
      row[i] = a + b;
      row[i + half] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += 1024) y[base + i] = row[i];
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  transform<<<rows, 1024, 4 * cols>>>(x, y, cols);
}
#else
__global__ void butterflies(const float* x, float* y, int pairs, int half, int stage, float scale) {
  const int pair = blockIdx.x * 256 + threadIdx.x;
  if (pair >= pairs) return;
  const int i = lower_of(pair, half, stage);
  const float a = x[i] * scale, b = x[i + half] * scale;
  y[i] = a + b;
  y[i + half] = a - b;
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  const int pairs = rows * cols / 2;
  int stage = 0;
  for (int half = 1; half < cols; half *= 2, ++stage)
    butterflies<<<(pairs + 255) / 256, 256>>>(stage ? y : x, y, pairs, half, stage,
                                              stage ? 1.0f : 0.03125f);
}
#endif
