// Sketches packed DNA: the smallest hash of the 16-mers of each window, in four buckets.
// dims: words=2097152
// tensor: bases int32 words in
// tensor: sketch int32 words/64 out
// without SHARED_ATOMICS: minima in registers, then one atomic per warp and bucket
// without ARITHMETIC, other answers: a single multiplication as hash
__device__ unsigned scramble(unsigned k) {
#ifndef WITHOUT_ARITHMETIC
  k ^= k >> 16;
  k *= 0x85ebca6bu;
  k ^= k >> 13;
  k *= 0xc2b2ae35u;
  return k ^ (k >> 16);
#else
  return k * 0x9e3779b1u;
#endif
}
__global__ void window_sketch(const int* __restrict__ bases, int* __restrict__ sketch, int words) {
  __shared__ unsigned least[4];
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x < 4) least[threadIdx.x] = ~0u;
  __syncthreads();
  const unsigned low = unsigned(bases[i]) * 2654435761u + unsigned(i) * 0x9e3779b9u;
  const int j = i + 1 < words ? i + 1 : 0;
  const unsigned high = unsigned(bases[j]) * 2654435761u + unsigned(j) * 0x9e3779b9u;
#ifdef WITHOUT_SHARED_ATOMICS
  unsigned mine[4] = {~0u, ~0u, ~0u, ~0u};
#endif
#pragma unroll
  for (int base = 0; base < 16; ++base) {
    const unsigned hash = scramble(__funnelshift_r(low, high, 2 * base));
    const unsigned bucket = hash & 3;
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
    for (unsigned b = 0; b < 4; ++b) mine[b] = bucket == b ? min(mine[b], hash) : mine[b];
#else
    atomicMin(least + bucket, hash);
#endif
  }
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const unsigned smallest = __reduce_min_sync(~0u, mine[b]);
    if (threadIdx.x % 32 == 0) atomicMin(least + b, smallest);
  }
#endif
  __syncthreads();
  if (threadIdx.x < 4) sketch[blockIdx.x * 4 + threadIdx.x] = int(least[threadIdx.x]);
}
extern "C" void solve(const int* bases, int* sketch, int words) {
  window_sketch<<<words / 256, 256>>>(bases, sketch, words);
}
