// Generalized advantage estimates of reinforcement learning, from the last step to the first.
// dims: envs=65536 steps=128
// tensor: rewards float32 envs,steps in
// tensor: values float32 envs,steps in
// tensor: advantages float32 envs,steps out
// without STRIDED_ACCESS, other answers: the steps are the outer dimension, the lanes' neighbors
// without DEPENDENCE, other answers: an advantage does not depend on the one after it
__global__ void estimate(const float* __restrict__ rewards, const float* __restrict__ values,
                         float* __restrict__ advantages, int envs, int steps) {
  const int env = blockIdx.x * blockDim.x + threadIdx.x;
  if (env >= envs) return;
  float next_value = 0, advantage = 0;
#pragma unroll 8
  for (int step = steps - 1; step >= 0; --step) {
#ifdef WITHOUT_STRIDED_ACCESS
    const int i = step * envs + env;
#else
    const int i = env * steps + step;
#endif
    const float value = values[i];
    const float delta = rewards[i] + 0.99f * next_value - value;
#ifdef WITHOUT_DEPENDENCE
    advantage = delta + 0.9405f * value;
#else
    advantage = delta + 0.9405f * advantage;
#endif
    advantages[i] = advantage;
    next_value = value;
  }
}

extern "C" void solve(const float* rewards, const float* values, float* advantages, int envs,
                      int steps) {
  estimate<<<(envs + 127) / 128, 128>>>(rewards, values, advantages, envs, steps);
}
