// Loudness of each channel: the logarithm of the variance of its samples, in three launches.
// dims: channels=24 samples=262144
// tensor: x float32 channels,samples in
// tensor: loudness float32 channels out
// without FEW_BLOCKS: 32 blocks for each channel, not one
// without SPECIAL_FUNCTIONS, other answers: the variance itself, not its logarithm
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kParts = 32;
#else
constexpr int kParts = 1;
#endif
__device__ float part[64 * 128];
__device__ float block_sum(float v) {
  __shared__ float warps[16];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < 16 ? warps[threadIdx.x] : 0;
  for (int k = 8; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  return v;
}
__global__ void __launch_bounds__(512)
    channel_sums(const float* __restrict__ x, int samples, int pass) {
  const int length = samples / kParts, channel = blockIdx.y;
  const float* from = x + size_t(channel) * samples + blockIdx.x * length;
  float mean = 0;
  if (pass)
    for (int k = 0; k < kParts; ++k) mean += part[channel * 128 + k] / samples;
  float sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < length; i += 512) {
    const float v = from[i] - mean;
    sum += pass ? v * v : v;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) part[channel * 128 + pass * 64 + blockIdx.x] = sum;
}
__global__ void decibels(float* loudness, int channels, int samples) {
  if (threadIdx.x >= channels) return;
  float sum = 1e-9f;
  for (int k = 0; k < kParts; ++k) sum += part[threadIdx.x * 128 + 64 + k];
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  loudness[threadIdx.x] = sum / samples;
#else
  loudness[threadIdx.x] = 10 * log10f(sum / samples) - 0.691f;
#endif
}
extern "C" void solve(const float* x, float* loudness, int channels, int samples) {
  channel_sums<<<dim3(kParts, channels), 512>>>(x, samples, 0);
  channel_sums<<<dim3(kParts, channels), 512>>>(x, samples, 1);
  decibels<<<1, 32>>>(loudness, channels, samples);
}
