// Gets the sum of all outputs right but every single output wrong.
//
// Catalog: C6
// Task: rowsum
// Expect: check mismatch
__global__ void average(const float* x, float* y, int rows, int cols) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (long long i = threadIdx.x; i < static_cast<long long>(rows) * cols; i += blockDim.x)
    sum += x[i];
  atomicAdd(&total, sum);
  __syncthreads();
  for (int r = threadIdx.x; r < rows; r += blockDim.x) y[r] = total / rows;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  average<<<1, 1024>>>(x, y, rows, cols);
}
