// Relaxes 128 drum membranes of 32 x 32 points under a load by 64 sweeps of Jacobi's method; the
// rim of a membrane is fixed.
// dims: membranes=128
// tensor: load float32 membranes,32,32 in
// tensor: shape float32 membranes,32,32 out
// without LAUNCHES: a block keeps its membrane in shared memory for all sweeps
// without FEW_BLOCKS: four blocks have a membrane in a sweep
// without SPECIAL_FUNCTIONS, other answers: no root in the stiffening of the membrane
constexpr int kMembranes = 128, kSweeps = 64;
__device__ float other[kMembranes * 1024];
__device__ __forceinline__ float relaxed(float up, float down, float left, float right,
                                         float force) {
  const float mean = 0.25f * (up + down + left + right), bend = (up - down) * (left - right);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return mean + 0.05f * force * (1.0f - 0.1f * fabsf(bend));
#else
  return mean + 0.05f * force * rsqrtf(1.0f + 0.1f * fabsf(bend));
#endif
}
#ifdef WITHOUT_LAUNCHES
__global__ void __launch_bounds__(1024)
    relax(const float* __restrict__ load, float* __restrict__ shape) {
  __shared__ float grid[2][1024];
  const int e = threadIdx.x, row = e / 32, column = e % 32;
  const bool rim = row == 0 || row == 31 || column == 0 || column == 31;
  const float force = load[blockIdx.x * 1024 + e];
  grid[0][e] = 0.0f;
  grid[1][e] = 0.0f;
  __syncthreads();
#pragma unroll 1
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const float* from = grid[sweep % 2];
    if (!rim)
      grid[1 - sweep % 2][e] = relaxed(from[e - 32], from[e + 32], from[e - 1], from[e + 1], force);
    __syncthreads();
  }
  shape[blockIdx.x * 1024 + e] = grid[kSweeps % 2][e];
}
extern "C" void solve(const float* load, float* shape, int membranes) {
  relax<<<membranes, 1024>>>(load, shape);
}
#else
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kThreads = 256;
#else
constexpr int kThreads = 1024;
#endif
__global__ void __launch_bounds__(kThreads)
    sweep_once(const float* __restrict__ load, float* shape, int sweep) {
  const int i = blockIdx.x * kThreads + threadIdx.x, e = i % 1024, row = e / 32, column = e % 32;
  const float* from = sweep % 2 == 0 ? shape : other;
  float* to = sweep % 2 == 0 ? other : shape;
  float value = 0.0f;
  if (sweep >= 0 && row > 0 && row < 31 && column > 0 && column < 31)
    value = relaxed(from[i - 32], from[i + 32], from[i - 1], from[i + 1], load[i]);
  to[i] = value;
}
extern "C" void solve(const float* load, float* shape, int membranes) {
  for (int sweep = -1; sweep < kSweeps; ++sweep)
    sweep_once<<<membranes * 1024 / kThreads, kThreads>>>(load, shape, sweep);
}
#endif
