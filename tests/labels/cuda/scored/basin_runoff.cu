// Runoff of 2048 river basins from the rain on their cells, a block a basin. The last sixteen are
// those of large rivers and have 262144 cells each, all others have 4096.
// dims: basins=2048 small=4096 large=262144
// tensor: rain float32 (basins-16)*small+16*large in
// tensor: runoff float32 basins out
// without IMBALANCE, other answers: all basins have 6112 cells
// without SPECIAL_FUNCTIONS, other answers: no root in the runoff of a cell
// without TREE_IN_SHARED: the warps add up by shuffles
__global__ void __launch_bounds__(256)
    drain(const float* __restrict__ rain, float* __restrict__ runoff, int basins, int small,
          int large) {
  const int basin = blockIdx.x, of_small = basins - 16;
#ifdef WITHOUT_IMBALANCE
  const int cells = (of_small * small + 16 * large) / basins;
  const float* from = rain + size_t(basin) * cells;
#else
  const int cells = basin < of_small ? small : large;
  const float* from = rain + size_t(min(basin, of_small)) * small;
  if (basin > of_small) from += size_t(basin - of_small) * large;
#endif
  float sum = 0.0f;
#pragma unroll 4
  for (int c = threadIdx.x; c < cells; c += 256) {
    const float fallen = fabsf(from[c]);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    sum += fallen * (0.3f + 0.1f * fallen);
#else
    sum += fallen * __fsqrt_rn(0.1f + 0.1f * fallen);
#endif
  }
#ifdef WITHOUT_TREE_IN_SHARED
  __shared__ float part[8];
#pragma unroll
  for (int apart = 16; apart > 0; apart >>= 1) sum += __shfl_xor_sync(~0u, sum, apart);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? part[threadIdx.x] : 0.0f;
#pragma unroll
    for (int apart = 4; apart > 0; apart >>= 1) sum += __shfl_xor_sync(~0u, sum, apart);
    if (threadIdx.x == 0) runoff[basin] = sum;
  }
#else
  __shared__ float part[256];
  part[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll 1
  for (int apart = 128; apart > 0; apart >>= 1) {
    if (threadIdx.x < apart) part[threadIdx.x] += part[threadIdx.x + apart];
    __syncthreads();
  }
  if (threadIdx.x == 0) runoff[basin] = part[0];
#endif
}
extern "C" void solve(const float* rain, float* runoff, int basins, int small, int large) {
  drain<<<basins, 256>>>(rain, runoff, basins, small, large);
}
