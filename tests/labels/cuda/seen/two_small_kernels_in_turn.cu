// Thirty rounds: one block sums what the kernel before it wrote, and the next one needs the sum.
// dims: n=262144
// tensor: x float32 n in
// tensor: y float32 n out
// without FEW_BLOCKS, other answers: sums a thirty-second of the array
// without LAUNCHES, other answers: one round instead of thirty, with the work of all
__device__ float mean;
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void __launch_bounds__(1024) find_mean(const float* y, int n, int times) {
  __shared__ float parts[32];
  float sum = 0;
  for (int k = 0; k < times; ++k)
    for (int i = threadIdx.x; i < n; i += 1024) sum += y[i];
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 32; ++k) sum += parts[k];
    mean = sum / n / times;
  }
}
__global__ void shift(float* y, int n, int times) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    for (int k = 0; k < times; ++k) y[i] = 0.9f * (y[i] - 0.5f * mean);
}
extern "C" void solve(const float* x, float* y, int n) {
  const int blocks = (n + 255) / 256;
  copy<<<blocks, 256>>>(x, y, n);
#ifdef WITHOUT_LAUNCHES
  find_mean<<<1, 1024>>>(y, n, 30);
  shift<<<blocks, 256>>>(y, n, 30);
#else
  for (int k = 0; k < 30; ++k) {
#ifdef WITHOUT_FEW_BLOCKS
    find_mean<<<1, 1024>>>(y, n / 32, 1);
#else
    find_mean<<<1, 1024>>>(y, n, 1);
#endif
    shift<<<blocks, 256>>>(y, n, 1);
  }
#endif
}
