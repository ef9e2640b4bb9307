// A genetic algorithm on islands of 32 genomes, an island a warp. In each generation a few islands
// search around their genomes; every sixteenth the islands of a block pass on their best.
// dims: islands=4224 generations=256
// tensor: start int32 islands*32 in
// tensor: last int32 islands*32 out
// without BARRIERS: the warps of a block wait for each other only when they pass on genomes
// without ARITHMETIC, other answers: a genome is rated by its bits, without a product
// without DIVERGENCE: a genome is kept by a choice instead of a branch
__device__ __forceinline__ unsigned mix(unsigned h) {
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  return h ^ h >> 12;
}
__device__ __forceinline__ int rating(unsigned genome) {
#ifdef WITHOUT_ARITHMETIC
  return __popc(genome ^ 0x5a17c3e9u);
#else
  return __popc(genome * 0x9e3779b1u ^ genome >> 7 ^ 0x5a17c3e9u);
#endif
}
__device__ __forceinline__ void attempt(unsigned& genome, int& worth, unsigned chance) {
  const unsigned other = genome ^ 1u << (chance >> 27);
  const int its = rating(other);
#ifdef WITHOUT_DIVERGENCE
  const bool better = its <= worth;
  genome = better ? other : genome;
  worth = better ? its : worth;
#else
  if (its <= worth) {
    genome = other;
    worth = its;
  }
#endif
}
__global__ void __launch_bounds__(512)
    evolve(const int* __restrict__ start, int* __restrict__ last, int generations) {
  __shared__ unsigned best[16];
  const int i = blockIdx.x * 512 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned island = i / 32;
  unsigned genome = mix(start[i] + i * 0x9e3779b9u);
  int worth = rating(genome);
#pragma unroll 1
  for (int generation = 1; generation <= generations; ++generation) {
    unsigned chance = mix(i * 0x85ebca6bu + generation * 0x9e3779b9u);
    attempt(genome, worth, chance);
    if ((mix(island * 0xc2b2ae35u ^ generation * 0x27d4eb2fu) >> 20 & 7) == 0) {
#pragma unroll 1
      for (int k = 0; k < 24; ++k) {
        chance = mix(chance + k);
        attempt(genome, worth, chance);
      }
    }
    if (generation % 16 == 0) {
      const int top = __reduce_min_sync(~0u, worth * 32 + lane);
      const unsigned given = __shfl_sync(~0u, genome, top & 31);
      __syncthreads();
      if (lane == 0) best[warp] = given;
      __syncthreads();
      if (lane == 31) {
        genome = best[(warp + 1) & 15];
        worth = rating(genome);
      }
    } else {
#ifndef WITHOUT_BARRIERS
      __syncthreads();
#endif
    }
  }
  last[i] = genome;
}
extern "C" void solve(const int* start, int* last, int islands, int generations) {
  evolve<<<islands / 16, 512>>>(start, last, generations);
}
