// Knapsack: the best value for each capacity, after sixty-four items have been considered.
// dims: capacity=4096 items=64
// tensor: value int32 items in
// tensor: best int32 capacity out
// without GRID_BARRIERS: one block does it all, in shared memory, and waits for itself only
// without INTEGER_DIVISION, other answers: weights from the leading bits, not by a remainder
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int rows[2][4096];
__device__ int weight_of(int item, int capacity) {
  const unsigned hash = unsigned(item + 1) * 2654435761u;
#ifdef WITHOUT_INTEGER_DIVISION
  return 1 + (hash >> 25);
#else
  return 1 + hash % unsigned(capacity / 32);
#endif
}
#ifdef WITHOUT_GRID_BARRIERS
extern __shared__ int shared_rows[];
__global__ void __launch_bounds__(1024)
    fill_rows(const int* value, int* best, int capacity, int items) {
  int *from = shared_rows, *to = shared_rows + capacity;
  for (int c = threadIdx.x; c < capacity; c += 1024) from[c] = 0;
  for (int item = 0; item < items; ++item) {
    __syncthreads();
    const int weight = weight_of(item, capacity), worth = 1 + value[item];
#pragma unroll 4
    for (int c = threadIdx.x; c < capacity; c += 1024)
      to[c] = c < weight ? from[c] : max(from[c], from[c - weight] + worth);
    int* const last = from;
    from = to;
    to = last;
  }
  for (int c = threadIdx.x; c < capacity; c += 1024) best[c] = from[c];
}
#else
__global__ void __launch_bounds__(256)
    fill_rows(const int* value, int* best, int capacity, int items) {
  const int c = blockIdx.x * 256 + threadIdx.x;
  int *from = rows[0], *to = rows[1];
  from[c] = 0;
  for (int item = 0; item < items; ++item) {
    cg::this_grid().sync();
    const int weight = weight_of(item, capacity), worth = 1 + value[item];
    to[c] = c < weight ? from[c] : max(from[c], from[c - weight] + worth);
    int* const last = from;
    from = to;
    to = last;
  }
  best[c] = from[c];
}
#endif
extern "C" void solve(const int* value, int* best, int capacity, int items) {
#ifdef WITHOUT_GRID_BARRIERS
  const int bytes = 2 * capacity * 4;
  cudaFuncSetAttribute(fill_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  fill_rows<<<1, 1024, bytes>>>(value, best, capacity, items);
#else
  void* arguments[] = {&value, &best, &capacity, &items};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(fill_rows), dim3(capacity / 256), dim3(256),
                              arguments, 0, nullptr);
#endif
}
