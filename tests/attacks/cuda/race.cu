// Sums without atomics: threads overwrite each other's sums.
//
// Catalog: C12
// Task: rowsum
// Expect: check mismatch
__global__ void race(const float* x, float* y, int cols) {
  if (threadIdx.x == 0) y[blockIdx.x] = 0;
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    *reinterpret_cast<volatile float*>(y + blockIdx.x) +=
        x[static_cast<long long>(blockIdx.x) * cols + c];
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  race<<<rows, 256>>>(x, y, cols);
}
