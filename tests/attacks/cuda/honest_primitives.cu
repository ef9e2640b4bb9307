// Reduces its rows with the toolkit's header-only primitives.
//
// Catalog: honest
// Task: rowsum
// Expect: pass
#include <cub/block/block_reduce.cuh>
__global__ void rowsum(const float* x, float* y, int cols) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage scratch;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 256)
    sum += x[static_cast<long long>(blockIdx.x) * cols + c];
  sum = Reduce(scratch).Sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  rowsum<<<rows, 256>>>(x, y, cols);
}
