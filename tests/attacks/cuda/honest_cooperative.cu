// A cooperative launch that synchronizes its whole grid.
//
// Catalog: honest
// Task: rowsum
// Expect: pass
#include <cooperative_groups.h>
__device__ float parts[65536];
__global__ void rowsum(const float* x, float* y, int rows, int cols) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 32) sum += x[static_cast<long long>(r) * cols + c];
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
    if (threadIdx.x == 0) parts[r] = sum;
  }
  cooperative_groups::this_grid().sync();
  for (int r = blockIdx.x * 32 + threadIdx.x; r < rows; r += gridDim.x * 32) y[r] = parts[r];
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  void* arguments[] = {&x, &y, &rows, &cols};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rowsum), 64, 32, arguments, 0, nullptr);
}
