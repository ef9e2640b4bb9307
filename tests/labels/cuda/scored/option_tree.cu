// Prices American puts on binomial trees, from the last date back to the first.
// dims: options=64 steps=128
// tensor: spots float32 options in
// tensor: prices float32 options out
// without LAUNCHES: a block keeps its option's tree in shared memory and takes all steps
// without SPECIAL_FUNCTIONS, other answers: the nodes' spots are linear in their position
// without IDLE_LANES: a launch has only the warps that the step's nodes need
constexpr int kOptions = 64, kSteps = 128, kNodes = 160;  // nodes padded to whole warps
constexpr float kStrike = 100.0f, kUp = 0.507f, kDown = 0.4925f, kMove = 0.0178f;
__device__ float tree[2][kOptions * kNodes];

__device__ float exercise(float spot, int step, int node) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float there = spot * fmaf(kMove, 2 * node - step, 1.0f);
#else
  const float there = spot * expf(kMove * (2 * node - step));
#endif
  return fmaxf(kStrike - there, 0.0f);
}
__device__ float hold(float down, float up) {
  return fmaf(kUp, up, kDown * down);
}

__global__ void whole_tree(const float* __restrict__ spots, float* __restrict__ prices, int steps) {
  __shared__ float values[2][kNodes];
  const int node = threadIdx.x;
  const float spot = fmaf(10.0f, spots[blockIdx.x], 100.0f);
  if (node <= steps) values[steps & 1][node] = exercise(spot, steps, node);
  __syncthreads();
  for (int step = steps - 1; step >= 0; --step) {
    const float* later = values[(step + 1) & 1];
    if (node <= step)
      values[step & 1][node] =
          fmaxf(hold(later[node], later[node + 1]), exercise(spot, step, node));
    __syncthreads();
  }
  if (node == 0) prices[blockIdx.x] = values[0][0];
}
__global__ void last_date(const float* __restrict__ spots, int steps) {
  const int node = threadIdx.x;
  if (node > steps) return;
  const float spot = fmaf(10.0f, spots[blockIdx.x], 100.0f);
  tree[steps & 1][blockIdx.x * kNodes + node] = exercise(spot, steps, node);
}
__global__ void one_step_back(const float* __restrict__ spots, float* __restrict__ prices,
                              int step) {
  const int node = threadIdx.x;
  if (node > step) return;
  const float* later = tree[(step + 1) & 1] + blockIdx.x * kNodes + node;
  const float spot = fmaf(10.0f, spots[blockIdx.x], 100.0f);
  const float value = fmaxf(hold(later[0], later[1]), exercise(spot, step, node));
  tree[step & 1][blockIdx.x * kNodes + node] = value;
  if (step == 0) prices[blockIdx.x] = value;
}
extern "C" void solve(const float* spots, float* prices, int options, int steps) {
  if (options > kOptions || steps > kSteps) return;
#ifdef WITHOUT_LAUNCHES
  whole_tree<<<options, kNodes>>>(spots, prices, steps);
#else
  last_date<<<options, kNodes>>>(spots, steps);
  for (int step = steps - 1; step >= 0; --step) {
#ifdef WITHOUT_IDLE_LANES
    const int threads = step / 32 * 32 + 32;
#else
    const int threads = kNodes;
#endif
    one_step_back<<<options, threads>>>(spots, prices, step);
  }
#endif
}
