#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Returns the reduction to all threads of the block: shuffles within warps, one exchange between.
template <class Operation>
__device__ float reduce(float value, float* scratch, Operation operation) {
  for (int mask = 16; mask > 0; mask /= 2)
    value = operation(value, __shfl_xor_sync(~0u, value, mask));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[threadIdx.x % kWarps];
  for (int mask = kWarps / 2; mask > 0; mask /= 2)
    value = operation(value, __shfl_xor_sync(~0u, value, mask));
  return value;
}

// One block per row; the row is read once, as float4, and stays in registers.
template <int kVectors>
__global__ void __launch_bounds__(kThreads)
    softmax_in_registers(const float4* x, float4* y, int vectors) {
  __shared__ float for_max[kWarps], for_sum[kWarps];
  const float4* in = x + static_cast<int64_t>(blockIdx.x) * vectors;
  float4* out = y + static_cast<int64_t>(blockIdx.x) * vectors;
  float4 v[kVectors];
  float top = -INFINITY;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int at = threadIdx.x + i * kThreads;
    v[i] = at < vectors ? __ldcs(in + at) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    top = fmaxf(top, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
  }
  top = reduce(top, for_max, Max());
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    v[i] = make_float4(__expf(v[i].x - top), __expf(v[i].y - top), __expf(v[i].z - top),
                       __expf(v[i].w - top));
    sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  }
  const float scale = 1 / reduce(sum, for_sum, Sum());
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (at < vectors)
      __stcs(out + at, make_float4(v[i].x * scale, v[i].y * scale, v[i].z * scale, v[i].w * scale));
  }
}

// Any width: maximum and sum in one pass, the sum rescaled when the maximum grows.
__global__ void __launch_bounds__(kThreads) softmax_online(const float* x, float* y, int cols) {
  __shared__ float for_max[kWarps], for_sum[kWarps];
  const float* in = x + static_cast<int64_t>(blockIdx.x) * cols;
  float* out = y + static_cast<int64_t>(blockIdx.x) * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float v = in[c];
    if (v > top) {
      sum *= expf(top - v);
      top = v;
    }
    sum += expf(v - top);
  }
  const float row_top = reduce(top, for_max, Max());
  sum = top == -INFINITY ? 0 : sum * expf(top - row_top);
  const float scale = 1 / reduce(sum, for_sum, Sum());
  for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = expf(in[c] - row_top) * scale;
}

}  // namespace

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  const bool aligned = (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) % 16 == 0;
  const int vectors = cols / 4;
  const auto* x4 = reinterpret_cast<const float4*>(x);
  auto* y4 = reinterpret_cast<float4*>(y);
  if (!aligned || cols % 4 != 0 || vectors > 8 * kThreads)
    softmax_online<<<rows, kThreads>>>(x, y, cols);
  else if (vectors <= kThreads)
    softmax_in_registers<1><<<rows, kThreads>>>(x4, y4, vectors);
  else if (vectors <= 2 * kThreads)
    softmax_in_registers<2><<<rows, kThreads>>>(x4, y4, vectors);
  else if (vectors <= 4 * kThreads)
    softmax_in_registers<4><<<rows, kThreads>>>(x4, y4, vectors);
  else
    softmax_in_registers<8><<<rows, kThreads>>>(x4, y4, vectors);
}
