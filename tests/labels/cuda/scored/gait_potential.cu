// Potential energy of a planar skeleton of 24 joints along its gait: a joint's pose follows its
// parent's.
// dims: phases=1048576
// tensor: phase float32 phases in
// tensor: amplitude float32 24 in
// tensor: energy float32 phases out
// without LOCAL_MEMORY: the loop over the joints is unrolled, and the poses are in registers
// without SPECIAL_FUNCTIONS, other answers: the rotations are polynomials
#include <cuda_runtime.h>
constexpr int kJoints = 24;
// The trunk, two legs and two arms.
__constant__ const int kParent[kJoints] = {0,  0, 1,  2,  3,  0,  5, 6,  7,  0,  9,  10,
                                           11, 2, 13, 14, 15, 16, 2, 18, 19, 20, 21, 4};

__device__ float2 rotation(float angle) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float square = angle * angle;
  return make_float2(1 - square * 0.5f, angle * (1 - square * (1.0f / 6)));
#else
  return make_float2(__cosf(angle), __sinf(angle));
#endif
}

__global__ void __launch_bounds__(256)
    sum_heights(const float* __restrict__ phase, const float* __restrict__ amplitude,
                float* __restrict__ energy, int phases) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= phases) return;
  const float now = phase[i];
  float4 pose[kJoints];  // position, cosine and sine
  pose[0] = make_float4(0, 1, 1, 0);
  float sum = 0;
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int joint = 1; joint < kJoints; ++joint) {
    const float4 parent = pose[kParent[joint]];
    const float2 turn = rotation(amplitude[joint] * rotation(now + 0.7f * joint).y);
    const float c = parent.z * turn.x - parent.w * turn.y;
    const float s = parent.w * turn.x + parent.z * turn.y;
    const float x = parent.x + 0.3f * c, y = parent.y + 0.3f * s;
    pose[joint] = make_float4(x, y, c, s);
    sum += y + 0.01f * x * x;
  }
  energy[i] = sum;
}

extern "C" void solve(const float* phase, const float* amplitude, float* energy, int phases) {
  sum_heights<<<(phases + 255) / 256, 256>>>(phase, amplitude, energy, phases);
}
