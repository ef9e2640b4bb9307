// Hough transform: each point votes for one of 256 distances at each of 16 angles.
// dims: points=1048576
// tensor: position float32 points*2 in
// tensor: votes int32 4096 out
// without GLOBAL_ATOMICS: a block counts in shared memory first
// without SPECIAL_FUNCTIONS: the angles' sines and cosines are in a table
// without STRIDED_ACCESS: a point's coordinates are loaded as one pair
#include <cuda_runtime.h>
constexpr int kAngles = 16, kBins = 256, kThreads = 512;
constexpr float kStep = 3.14159265f / kAngles;

__global__ void __launch_bounds__(kThreads)
    vote(const float* __restrict__ position, int* __restrict__ votes, int points) {
#ifdef WITHOUT_GLOBAL_ATOMICS
  __shared__ int counts[kAngles * kBins];
  for (int i = threadIdx.x; i < kAngles * kBins; i += kThreads) counts[i] = 0;
#else
  int* counts = votes;
#endif
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  __shared__ float2 directions[kAngles];
  if (threadIdx.x < kAngles)
    directions[threadIdx.x] = make_float2(__cosf(threadIdx.x * kStep), __sinf(threadIdx.x * kStep));
#endif
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < points; i += gridDim.x * kThreads) {
#ifdef WITHOUT_STRIDED_ACCESS
    const float2 p = reinterpret_cast<const float2*>(position)[i];
    const float x = p.x, y = p.y;
#else
    const float x = position[2 * i], y = position[2 * i + 1];
#endif
#pragma unroll 1
    for (int a = 0; a < kAngles; ++a) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
      const float c = directions[a].x, s = directions[a].y;
#else
      const float c = __cosf(a * kStep), s = __sinf(a * kStep);
#endif
      const float distance = __fmaf_rn(x, c, __fmul_rn(y, s));
      const int bin = min(max(__float2int_rd(distance * 32) + kBins / 2, 0), kBins - 1);
      atomicAdd(counts + a * kBins + bin, 1);
    }
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  __syncthreads();
  for (int i = threadIdx.x; i < kAngles * kBins; i += kThreads)
    if (counts[i]) atomicAdd(votes + i, counts[i]);
#endif
}

extern "C" void solve(const float* position, int* votes, int points) {
  cudaMemsetAsync(votes, 0, kAngles * kBins * sizeof(int));
  vote<<<264, kThreads>>>(position, votes, points);
}
