// For Kendall's tau: how many earlier samples lie on the same side of each sample in x and in y.
// dims: n=32768
// tensor: x float32 n in
// tensor: y float32 n in
// tensor: concordant int32 n out
// without IMBALANCE: a warp has an early and a late group of samples, not two neighboring ones
// without GLOBAL_ATOMICS: a warp sums its lanes' counts and stores them
#include <cuda_runtime.h>
constexpr int kRows = 8, kThreads = 512;

__device__ void compare(const float* __restrict__ x, const float* __restrict__ y, int* concordant,
                        int first) {
  const int lane = threadIdx.x % 32, whole = first / 32 * 32;
  float own_x[kRows], own_y[kRows];
  int count[kRows] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) own_x[r] = x[first + r], own_y[r] = y[first + r];
#pragma unroll 4
  for (int j = lane; j < whole; j += 32) {
    const float other_x = x[j], other_y = y[j];
#pragma unroll
    for (int r = 0; r < kRows; ++r) count[r] += (other_x < own_x[r]) == (other_y < own_y[r]);
  }
  const int j = whole + lane;
  if (j < first + kRows) {
    const float other_x = x[j], other_y = y[j];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      count[r] += j < first + r && (other_x < own_x[r]) == (other_y < own_y[r]);
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#ifdef WITHOUT_GLOBAL_ATOMICS
    const int total = __reduce_add_sync(0xffffffff, count[r]);
    if (lane == 0) concordant[first + r] = total;
#else
    atomicAdd(concordant + first + r, count[r]);
#endif
  }
}

__global__ void __launch_bounds__(kThreads)
    count_concordant(const float* __restrict__ x, const float* __restrict__ y, int* concordant,
                     int n) {
  const int warp = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
#ifdef WITHOUT_IMBALANCE
    const int group = k ? n / kRows - 1 - warp : warp;
#else
    const int group = 2 * warp + k;
#endif
    compare(x, y, concordant, group * kRows);
  }
}

// n is a multiple of 256.
extern "C" void solve(const float* x, const float* y, int* concordant, int n) {
  cudaMemsetAsync(concordant, 0, n * sizeof(int));
  count_concordant<<<n / (2 * kRows * (kThreads / 32)), kThreads>>>(x, y, concordant, n);
}
