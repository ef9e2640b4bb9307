// One block a row. The row is read once, as float4, and stays in registers: mean, then variance about
// that mean, then the output. Wider or unaligned rows take the loop at the end.
//
// ABLATE_memory_vectorized_access reads and writes single floats; ABLATE_compute_warp_shuffle sums in
// a tree of shared memory.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr float kEpsilon = 1e-5f;

#ifndef ABLATE_compute_warp_shuffle
constexpr int kScratch = kWarps;
__device__ float over_block(float* scratch, float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(~0u, value, mask);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[threadIdx.x % kWarps];
  for (int mask = kWarps / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(~0u, value, mask);
  return value;
}
#else
constexpr int kScratch = kThreads;
__device__ float over_block(float* scratch, float value) {
  scratch[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
  }
  __syncthreads();
  return scratch[0];
}
#endif

/// kCount groups of four elements a thread. With vectors a group lies together, without it is four
/// columns that are kThreads apart.
template <int kCount>
struct Row {
  float v[kCount][4];

#ifndef ABLATE_memory_vectorized_access
  __device__ static void load(float (&to)[4], const float* from, int group, int cols) {
    const int c = 4 * (group * kThreads + threadIdx.x);
    const float4 four =
        c < cols ? *reinterpret_cast<const float4*>(from + c) : make_float4(0, 0, 0, 0);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
  __device__ static void store(float* to, const float (&from)[4], int group, int cols) {
    const int c = 4 * (group * kThreads + threadIdx.x);
    if (c < cols) *reinterpret_cast<float4*>(to + c) = make_float4(from[0], from[1], from[2], from[3]);
  }
  __device__ static bool inside(int group, int, int cols) {
    return 4 * (group * kThreads + threadIdx.x) < cols;
  }
#else
  __device__ static int column(int group, int i) {
    return (4 * group + i) * kThreads + threadIdx.x;
  }
  __device__ static void load(float (&to)[4], const float* from, int group, int cols) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = inside(group, i, cols) ? from[column(group, i)] : 0;
  }
  __device__ static void store(float* to, const float (&from)[4], int group, int cols) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (inside(group, i, cols)) to[column(group, i)] = from[i];
  }
  __device__ static bool inside(int group, int i, int cols) { return column(group, i) < cols; }
#endif
};

template <int kCount>
__global__ void __launch_bounds__(kThreads)
    layer_norm_in_registers(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  __shared__ float for_mean[kScratch], for_variance[kScratch];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * cols;
  Row<kCount> row;
  float sum = 0;
#pragma unroll
  for (int g = 0; g < kCount; ++g) {
    row.load(row.v[g], x + begin, g, cols);
    sum += (row.v[g][0] + row.v[g][1]) + (row.v[g][2] + row.v[g][3]);
  }
  const float mean = over_block(for_mean, sum) / static_cast<float>(cols);
  float squares = 0;
#pragma unroll
  for (int g = 0; g < kCount; ++g)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      row.v[g][i] -= mean;
      if (row.inside(g, i, cols)) squares += row.v[g][i] * row.v[g][i];
    }
  const float scale = rsqrtf(over_block(for_variance, squares) / static_cast<float>(cols) + kEpsilon);
#pragma unroll
  for (int g = 0; g < kCount; ++g) {
    float weight[4], offset[4];
    row.load(weight, gamma, g, cols);
    row.load(offset, beta, g, cols);
#pragma unroll
    for (int i = 0; i < 4; ++i) row.v[g][i] = row.v[g][i] * scale * weight[i] + offset[i];
    row.store(y + begin, row.v[g], g, cols);
  }
}

__global__ void __launch_bounds__(kThreads)
    layer_norm_any(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  __shared__ float for_mean[kScratch], for_variance[kScratch];
  const float* in = x + static_cast<int64_t>(blockIdx.x) * cols;
  float* out = y + static_cast<int64_t>(blockIdx.x) * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c];
  const float mean = over_block(for_mean, sum) / static_cast<float>(cols);
  float squares = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) squares += (in[c] - mean) * (in[c] - mean);
  const float scale = rsqrtf(over_block(for_variance, squares) / static_cast<float>(cols) + kEpsilon);
  for (int c = threadIdx.x; c < cols; c += kThreads)
    out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}

}  // namespace

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int rows,
                      int cols) {
  const auto places = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(gamma) |
                      reinterpret_cast<uintptr_t>(beta) | reinterpret_cast<uintptr_t>(y);
  if (places % 16 != 0 || cols % 4 != 0 || cols > 32 * kThreads)
    layer_norm_any<<<rows, kThreads>>>(x, gamma, beta, y, cols);
  else if (cols <= 4 * kThreads)
    layer_norm_in_registers<1><<<rows, kThreads>>>(x, gamma, beta, y, cols);
  else if (cols <= 8 * kThreads)
    layer_norm_in_registers<2><<<rows, kThreads>>>(x, gamma, beta, y, cols);
  else if (cols <= 16 * kThreads)
    layer_norm_in_registers<4><<<rows, kThreads>>>(x, gamma, beta, y, cols);
  else
    layer_norm_in_registers<8><<<rows, kThreads>>>(x, gamma, beta, y, cols);
}
