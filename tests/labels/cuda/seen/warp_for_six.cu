// A warp for each row of six numbers: twenty-six lanes have nothing to do.
// dims: rows=1048576
// tensor: x float32 rows,6 in
// tensor: y float32 rows out
// without IDLE_LANES: a lane for each row
// without BYTES, other answers: does not read x from memory
__device__ float term(float v) {
#pragma unroll
  for (int k = 0; k < 24; ++k) v = v * 0.5f + 0.1f;
  return v;
}
__global__ void sums(const float* x, float* y, int rows) {
#ifdef WITHOUT_IDLE_LANES
  const int row = blockIdx.x * 256 + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < 6; ++k) sum += term(x[size_t(row) * 6 + k]);
  y[row] = sum;
#else
  const int row = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  if (lane < 6)
#ifdef WITHOUT_BYTES
    sum = term(1e-6f * row + lane);
#else
    sum = term(x[size_t(row) * 6 + lane]);
#endif
  for (int step = 4; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) y[row] = sum;
#endif
}
extern "C" void solve(const float* x, float* y, int rows) {
#ifdef WITHOUT_IDLE_LANES
  sums<<<(rows + 255) / 256, 256>>>(x, y, rows);
#else
  sums<<<(rows + 7) / 8, 256>>>(x, y, rows);
#endif
}
