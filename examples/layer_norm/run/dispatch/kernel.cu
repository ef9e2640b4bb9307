// Generated: calls, for each size, the variant that was fastest at the nearest case.
#include <cmath>
#include <cuda_runtime.h>
#include <cstdint>

namespace variant_v1 {
// One block a row. The row is read once, as float4, and stays in registers: mean, then variance about
// that mean, then the output. Wider or unaligned rows take the loop at the end.
//
// ABLATE_memory_vectorized_access reads and writes single floats; ABLATE_compute_warp_shuffle sums in
// a tree of shared memory.




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

extern "C" void solve_v1(const float* x, const float* gamma, const float* beta, float* y, int rows,
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

}  // namespace variant_v1

namespace variant_v2 {
// One warp a row, no barrier at all: the row stays in the warp's registers while it is at most 4096
// wide. Wider or unaligned rows are read again for every pass.




namespace {

constexpr int kWarps = 4;  // rows a block
constexpr float kEpsilon = 1e-5f;

__device__ float over_warp(float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(~0u, value, mask);
  return value;
}

template <int kCount>
__global__ void __launch_bounds__(32 * kWarps)
    layer_norm_warp(const float4* x, const float4* gamma, const float4* beta, float4* y, int rows,
                    int vectors) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * kWarps + threadIdx.x / 32;
  if (row >= rows) return;
  const float4* in = x + static_cast<int64_t>(row) * vectors;
  float4* out = y + static_cast<int64_t>(row) * vectors;
  const float count = 4.0f * static_cast<float>(vectors);
  float4 v[kCount];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const int at = lane + 32 * i;
    v[i] = at < vectors ? in[at] : make_float4(0, 0, 0, 0);
    sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  }
  const float mean = over_warp(sum) / count;
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    v[i] = make_float4(v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean);
    if (lane + 32 * i < vectors)
      squares += (v[i].x * v[i].x + v[i].y * v[i].y) + (v[i].z * v[i].z + v[i].w * v[i].w);
  }
  const float scale = rsqrtf(over_warp(squares) / count + kEpsilon);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const int at = lane + 32 * i;
    if (at >= vectors) continue;
    const float4 g = gamma[at], b = beta[at];
    out[at] = make_float4(v[i].x * scale * g.x + b.x, v[i].y * scale * g.y + b.y,
                          v[i].z * scale * g.z + b.z, v[i].w * scale * g.w + b.w);
  }
}

__global__ void __launch_bounds__(32 * kWarps)
    layer_norm_any(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * kWarps + threadIdx.x / 32;
  if (row >= rows) return;
  const float* in = x + static_cast<int64_t>(row) * cols;
  float* out = y + static_cast<int64_t>(row) * cols;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += in[c];
  const float mean = over_warp(sum) / static_cast<float>(cols);
  float squares = 0;
  for (int c = lane; c < cols; c += 32) squares += (in[c] - mean) * (in[c] - mean);
  const float scale = rsqrtf(over_warp(squares) / static_cast<float>(cols) + kEpsilon);
  for (int c = lane; c < cols; c += 32) out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}

}  // namespace

extern "C" void solve_v2(const float* x, const float* gamma, const float* beta, float* y, int rows,
                      int cols) {
  const auto places = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(gamma) |
                      reinterpret_cast<uintptr_t>(beta) | reinterpret_cast<uintptr_t>(y);
  const auto* x4 = reinterpret_cast<const float4*>(x);
  const auto* gamma4 = reinterpret_cast<const float4*>(gamma);
  const auto* beta4 = reinterpret_cast<const float4*>(beta);
  auto* y4 = reinterpret_cast<float4*>(y);
  const int blocks = (rows + kWarps - 1) / kWarps;
  const int vectors = cols / 4;
  if (places % 16 != 0 || cols % 4 != 0 || vectors > 32 * 32)
    layer_norm_any<<<blocks, 32 * kWarps>>>(x, gamma, beta, y, rows, cols);
  else if (vectors <= 32 * 4)
    layer_norm_warp<4><<<blocks, 32 * kWarps>>>(x4, gamma4, beta4, y4, rows, vectors);
  else if (vectors <= 32 * 8)
    layer_norm_warp<8><<<blocks, 32 * kWarps>>>(x4, gamma4, beta4, y4, rows, vectors);
  else if (vectors <= 32 * 16)
    layer_norm_warp<16><<<blocks, 32 * kWarps>>>(x4, gamma4, beta4, y4, rows, vectors);
  else
    layer_norm_warp<32><<<blocks, 32 * kWarps>>>(x4, gamma4, beta4, y4, rows, vectors);
}

}  // namespace variant_v2

extern "C" void solve(const float* p0, const float* p1, const float* p2, float* p3, int p4, int p5) {
  struct Route { double place[2]; int variant; };
  static const Route routes[] = {
      {{13.000000, 12.000000}, 0},
      {{16.000000, 9.000000}, 1},
  };
  const double place[2] = {std::log2(static_cast<double>(p4)), std::log2(static_cast<double>(p5))};
  int chosen = 0;
  double nearest = 1e30;
  for (const Route& route : routes) {
    double distance = 0;
    for (int i = 0; i < 2; ++i) distance += std::fabs(route.place[i] - place[i]);
    if (distance < nearest) {
      nearest = distance;
      chosen = route.variant;
    }
  }
  switch (chosen) {
    case 1:
      return variant_v2::solve_v2(p0, p1, p2, p3, p4, p5);
    default:
      return variant_v1::solve_v1(p0, p1, p2, p3, p4, p5);
  }
}
