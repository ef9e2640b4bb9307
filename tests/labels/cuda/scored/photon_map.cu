// Counts the photons that hit each of 64 x 64 cells of a detector, most of them near a corner: each
// photon adds one to its cell in global memory.
// dims: photons=8388608
// tensor: event int32 photons in
// tensor: counts int32 4096 out
// without GLOBAL_ATOMICS: a block counts in shared memory and adds its counts at the end
// without ARITHMETIC, other answers: the cell comes from a product instead of a hash
// without BYTES, other answers: all photons read the first thousand events
__device__ __forceinline__ unsigned cell_of(unsigned event, unsigned i) {
#ifdef WITHOUT_ARITHMETIC
  const unsigned h = event + i * 0x9e3779b9u;
#else
  unsigned h = (event ^ i * 0x9e3779b9u) * 0x85ebca6bu;
  h = (h ^ h >> 15) * 0xc2b2ae35u;
  h ^= h >> 13;
#endif
  const unsigned x = h >> 8 & h >> 14 & 63, y = h >> 20 & h >> 26 & 63;
  return y * 64 + x;
}
__global__ void __launch_bounds__(512)
    count_photons(const int* __restrict__ event, int* __restrict__ counts, int photons) {
#ifdef WITHOUT_GLOBAL_ATOMICS
  __shared__ int own[4096];
  for (int c = threadIdx.x; c < 4096; c += 512) own[c] = 0;
  __syncthreads();
#else
  int* own = counts;
#endif
#pragma unroll 4
  for (int i = blockIdx.x * 512 + threadIdx.x; i < photons; i += gridDim.x * 512) {
#ifdef WITHOUT_BYTES
    const int photon = event[i & 1023];
#else
    const int photon = event[i];
#endif
    atomicAdd(own + cell_of(photon, i), 1);
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  __syncthreads();
  for (int c = threadIdx.x; c < 4096; c += 512)
    if (own[c]) atomicAdd(counts + c, own[c]);
#endif
}
extern "C" void solve(const int* event, int* counts, int photons) {
  cudaMemsetAsync(counts, 0, 4096 * sizeof(int));
  count_photons<<<264, 512>>>(event, counts, photons);
}
