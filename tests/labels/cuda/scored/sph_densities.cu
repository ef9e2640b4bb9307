// Densities at the sample points of a smoothed particle fluid, from all 2048 particles of the
// cell, with a polynomial smoothing kernel. Particles pass through shared memory.
// dims: samples=131072 particles=2048
// tensor: at float32 samples,4 in
// tensor: fluid float32 particles,4 in
// tensor: density float32 samples out
// without ARITHMETIC, other answers: the kernel depends on one coordinate only and is linear
// without SHARED_TRAFFIC: a thread has four samples instead of two
// without BARRIERS, other answers: nobody waits for the particles
#ifdef WITHOUT_SHARED_TRAFFIC
constexpr int kSamples = 4;
#else
constexpr int kSamples = 2;
#endif
#ifdef WITHOUT_BARRIERS
#define PARTICLES_READY() __syncwarp()
#else
#define PARTICLES_READY() __syncthreads()
#endif
__global__ void __launch_bounds__(256)
    smooth(const float4* __restrict__ at, const float4* __restrict__ fluid,
           float* __restrict__ density, int particles) {
  __shared__ float4 near[256];
  const int first = blockIdx.x * 256 * kSamples + threadIdx.x;
  float4 place[kSamples];
  float sum[kSamples] = {};
#pragma unroll
  for (int s = 0; s < kSamples; ++s) place[s] = at[first + s * 256];
#pragma unroll 1
  for (int from = 0; from < particles; from += 256) {
    PARTICLES_READY();
    near[threadIdx.x] = fluid[from + threadIdx.x];
    PARTICLES_READY();
#pragma unroll 8
    for (int k = 0; k < 256; ++k) {
      const float4 other = near[k];
#pragma unroll
      for (int s = 0; s < kSamples; ++s) {
#ifdef WITHOUT_ARITHMETIC
        sum[s] += fabsf(place[s].x - other.x);
#else
        const float x = place[s].x - other.x, y = place[s].y - other.y, z = place[s].z - other.z;
        const float inside = fmaxf(3.0f - (x * x + y * y + z * z), 0.0f);
        const float square = inside * inside;
        sum[s] += square * (inside + fabsf(other.w) * 0.1f * square);
#endif
      }
    }
  }
#pragma unroll
  for (int s = 0; s < kSamples; ++s) density[first + s * 256] = sum[s];
}
extern "C" void solve(const float* at, const float* fluid, float* density, int samples,
                      int particles) {
  smooth<<<samples / (256 * kSamples), 256>>>(reinterpret_cast<const float4*>(at),
                                              reinterpret_cast<const float4*>(fluid), density,
                                              particles);
}
