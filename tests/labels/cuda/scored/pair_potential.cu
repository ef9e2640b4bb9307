// Electric potential at each particle of the charges of all particles before it.
// dims: n=16896
// tensor: places float32 3,n in
// tensor: charges float32 n in
// tensor: y float32 n out
// without IMBALANCE: a block takes every 132nd group of particles, not neighboring ones
constexpr int kThreads = 512, kGroup = 16;

__global__ void __launch_bounds__(kThreads)
    potentials(const float* __restrict__ places, const float* __restrict__ charges,
               float* __restrict__ y, int n) {
  __shared__ float4 mine[kGroup];
  __shared__ float parts[kGroup][kThreads / 32];
  const int groups = n / kGroup, each = (groups + gridDim.x - 1) / gridDim.x;
  for (int k = 0; k < each; ++k) {
#ifdef WITHOUT_IMBALANCE
    const int group = k * gridDim.x + blockIdx.x;
#else
    const int group = blockIdx.x * each + k;
#endif
    if (group >= groups) break;
    const int first = group * kGroup;
    if (threadIdx.x < kGroup) {
      const int i = first + threadIdx.x;
      mine[threadIdx.x] = make_float4(places[i], places[n + i], places[2 * n + i], 0);
    }
    __syncthreads();
    float sums[kGroup] = {};
    for (int j = threadIdx.x; j < first + kGroup; j += kThreads) {
      const float x = places[j], y = places[n + j], z = places[2 * n + j];
      const float charge = charges[j];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const float dx = mine[i].x - x, dy = mine[i].y - y, dz = mine[i].z - z;
        const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        sums[i] += j < first + i ? charge * inverse : 0;
      }
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      for (int apart = 16; apart > 0; apart /= 2) sums[i] += __shfl_xor_sync(~0u, sums[i], apart);
      if (threadIdx.x % 32 == 0) parts[i][threadIdx.x / 32] = sums[i];
    }
    __syncthreads();
    if (threadIdx.x < kGroup) {
      float sum = 0;
      for (int part = 0; part < kThreads / 32; ++part) sum += parts[threadIdx.x][part];
      y[first + threadIdx.x] = sum;
    }
  }
}

extern "C" void solve(const float* places, const float* charges, float* y, int n) {
  potentials<<<132, kThreads>>>(places, charges, y, n);
}
