// Dose that photons leave in a phantom of 4096 voxels: each photon deposits a part of its energy
// at the ends of four free paths. Energies are integers, so that the sums are exact.
// dims: photons=4194304 voxels=4096
// tensor: seeds uint32 photons in
// tensor: dose int32 voxels out
// without GLOBAL_ATOMICS: a block collects its dose in shared memory and adds it once at the end
// without SPECIAL_FUNCTIONS, other answers: free paths are evenly distributed, without a logarithm
// without BYTES, other answers: the first 4096 seeds are read again and again
constexpr int kVoxels = 4096;
__global__ void __launch_bounds__(1024) clear(int* dose, int voxels) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  if (i < voxels) dose[i] = 0;
}
__global__ void __launch_bounds__(1024)
    transport(const unsigned* __restrict__ seeds, int* __restrict__ dose, int photons) {
#ifdef WITHOUT_GLOBAL_ATOMICS
  __shared__ int here[kVoxels];
  for (int v = threadIdx.x; v < kVoxels; v += 1024) here[v] = 0;
  __syncthreads();
#else
  int* here = dose;
#endif
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < photons; i += gridDim.x * 1024) {
#ifdef WITHOUT_BYTES
    unsigned chance = seeds[i & 4095] + i * 0x9e3779b9u;
#else
    unsigned chance = seeds[i] + i * 0x9e3779b9u;
#endif
    float depth = 0.0f;
    int energy = 64;
#pragma unroll
    for (int path = 0; path < 4; ++path) {
      chance = (chance ^ chance >> 15) * 0x2c1b3c6du;
      chance ^= chance >> 13;
      const float even = ((chance >> 8) + 1) * (1.0f / 16777217.0f);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
      depth += 2.0f - 2.0f * even;
#else
      depth -= __logf(even);
#endif
      const int layer = min(15, int(depth * 1.5f));
      const int part = energy >> 1;
      atomicAdd(&here[(layer * 256 + (chance & 255)) & (kVoxels - 1)], part);
      energy -= part;
    }
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  __syncthreads();
  for (int v = threadIdx.x; v < kVoxels; v += 1024)
    if (here[v]) atomicAdd(&dose[v], here[v]);
#endif
}
extern "C" void solve(const unsigned* seeds, int* dose, int photons, int voxels) {
  clear<<<(voxels + 1023) / 1024, 1024>>>(dose, voxels);
  transport<<<264, 1024>>>(seeds, dose, photons);
}
