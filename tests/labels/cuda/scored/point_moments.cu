// Moments of each cluster of 256 points: the sums of x, y, z, xx, yy, zz, xy and yz.
// dims: clusters=32768
// tensor: points float16 clusters*768 in
// tensor: moments float32 clusters*8 out
// without TREE_IN_SHARED: each warp reduces by shuffles, only the warps' sums pass shared memory
// without STRIDED_ACCESS, other answers: the coordinates of a cluster lie in three arrays
#include <cuda_fp16.h>
__device__ float block_total(float v) {
#ifdef WITHOUT_TREE_IN_SHARED
  __shared__ float warps[8];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int k = 0; k < 8; ++k) v += warps[k];
  __syncthreads();
  return v;
#else
  __shared__ float tree[256];
  tree[threadIdx.x] = v;
  __syncthreads();
  for (unsigned half = 128; half; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  v = tree[0];
  __syncthreads();
  return v;
#endif
}
__global__ void __launch_bounds__(256)
    cluster_moments(const __half* __restrict__ points, float* __restrict__ moments) {
  const __half* own = points + size_t(blockIdx.x) * 768;
#ifdef WITHOUT_STRIDED_ACCESS
  const int t = threadIdx.x, next = 256;
#else
  const int t = 3 * threadIdx.x, next = 1;
#endif
  const float x = __half2float(own[t]), y = __half2float(own[t + next]);
  const float z = __half2float(own[t + 2 * next]);
  const float terms[8] = {x, y, z, x * x, y * y, z * z, x * y, y * z};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float total = block_total(terms[k]);
    if (threadIdx.x == 0) moments[blockIdx.x * 8 + k] = total;
  }
}
extern "C" void solve(const __half* points, float* moments, int clusters) {
  cluster_moments<<<clusters, 256>>>(points, moments);
}
