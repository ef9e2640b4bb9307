// Sums with atomics: the last bits differ from call to call.
//
// Catalog: honest
// Task: rowsum
// Expect: pass
__global__ void clear(float* y, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] = 0;
}
__global__ void add(const float* x, float* y, int cols) {
  float sum = 0;
  const int part = (cols + 7) / 8;
  const int end = min(cols, static_cast<int>(blockIdx.y + 1) * part);
  for (int c = blockIdx.y * part + threadIdx.x; c < end; c += blockDim.x)
    sum += x[static_cast<long long>(blockIdx.x) * cols + c];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.x, sum);
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  clear<<<(rows + 255) / 256, 256>>>(y, rows);
  add<<<dim3(rows, 8), 128>>>(x, y, cols);
}
