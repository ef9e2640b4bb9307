// Rings of 32 coupled pendulums, one per warp; now and then a heat bath redraws a ring's
// velocities.
// dims: rings=4096 steps=256
// tensor: angle float32 rings*32 in
// tensor: last float32 rings*32 out
// without BARRIERS: waits for the ring's own warp, which is all that shares its angles
// without SPECIAL_FUNCTIONS, other answers: the restoring force is a polynomial
#include <cuda_runtime.h>
constexpr int kRings = 32;  // of a block
constexpr int kDraws = 192;

__global__ void __launch_bounds__(kRings * 32)
    swing(const float* __restrict__ angle, float* __restrict__ last, int steps) {
  __shared__ float shared_angles[2][kRings][32];
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32, ring = blockIdx.x * kRings + own;
  float q = angle[ring * 32 + lane], v = 0;
  unsigned random = ring * 32 + lane;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    float* angles = shared_angles[step & 1][own];
    angles[lane] = q;
#ifdef WITHOUT_BARRIERS
    __syncwarp();
#else
    __syncthreads();
#endif
    const float left = angles[(lane + 31) & 31], right = angles[(lane + 1) & 31];
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float pull = q * (1.0f - q * q * (1.0f / 6));
#else
    const float pull = __sinf(q);
#endif
    v += 0.02f * (left + right - 2 * q - pull);
    // One ring of 32, another one each step, meets the heat bath: a sum of uniform draws is normal.
    const unsigned lot = (ring * 2654435761u + step * 2246822519u) * 3266489917u;
    if (lot >> 27 == 0) {
      unsigned sum = 0;
#pragma unroll 4
      for (int k = 0; k < kDraws; ++k) {
        random = random * 1664525u + 1013904223u;
        sum += random >> 16;
      }
      v = (float(sum) - 32767.5f * kDraws) * (0.5f / 262144);
    }
    q += 0.02f * v;
  }
  last[ring * 32 + lane] = q;
}

// The number of rings is a multiple of 32.
extern "C" void solve(const float* angle, float* last, int rings, int steps) {
  swing<<<rings / kRings, kRings * 32>>>(angle, last, steps);
}
