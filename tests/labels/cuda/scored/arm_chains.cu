// Position of the hand of each robot arm from the angles of its seven joints.
// dims: arms=32768
// tensor: angles float32 arms*7 in
// tensor: hand float32 arms*3 out
// without IDLE_LANES: each lane computes an arm, not one lane of the warp
// without STRIDED_ACCESS, other answers: the angles of one joint of all arms lie together
__global__ void hand_positions(const float* __restrict__ angles, float* __restrict__ hand,
                               int arms) {
#ifdef WITHOUT_IDLE_LANES
  const int arm = blockIdx.x * blockDim.x + threadIdx.x;
  if (arm >= arms) return;
#else
  const int arm = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (arm >= arms || threadIdx.x % 32) return;
#endif
  float x = 0, y = 0, z = 0.1f;
#pragma unroll 1
  for (int joint = 6; joint >= 0; --joint) {
#ifdef WITHOUT_STRIDED_ACCESS
    const float angle = angles[joint * arms + arm];
#else
    const float angle = angles[arm * 7 + joint];
#endif
    float s, c;
    sincosf(angle, &s, &c);
    const float turned = c * x - s * y, side = s * x + c * y;
    const float tilt = joint % 2 ? 0.6f : -0.6f;
    x = turned + 0.05f;
    y = 0.8f * side - tilt * z;
    z = tilt * side + 0.8f * z + 0.3f;
  }
  hand[arm * 3] = x;
  hand[arm * 3 + 1] = y;
  hand[arm * 3 + 2] = z;
}
extern "C" void solve(const float* angles, float* hand, int arms) {
#ifdef WITHOUT_IDLE_LANES
  hand_positions<<<(arms + 127) / 128, 128>>>(angles, hand, arms);
#else
  hand_positions<<<(arms + 3) / 4, 128>>>(angles, hand, arms);
#endif
}
