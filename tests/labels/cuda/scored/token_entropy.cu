// Entropy of a model's prediction at each token, of 1024 logits; a block per token.
// dims: tokens=32768
// tensor: logits float16 tokens,1024 in
// tensor: entropy float32 tokens out
// without TREE_IN_SHARED: warps reduce by shuffles, and a warp's result is all that is shared
// without SPECIAL_FUNCTIONS, other answers: a polynomial in place of the exponential
#include <cuda_fp16.h>
constexpr int kLogits = 1024, kThreads = 256;

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Buffer is another one each time.
template <class Combine>
__device__ float reduce(float value, float* buffer, Combine combine) {
#ifdef WITHOUT_TREE_IN_SHARED
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffff, value, offset));
  if (threadIdx.x % 32 == 0) buffer[threadIdx.x / 32] = value;
  __syncthreads();
  float result = buffer[0];
#pragma unroll
  for (int warp = 1; warp < kThreads / 32; ++warp) result = combine(result, buffer[warp]);
  return result;
#else
  buffer[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      buffer[threadIdx.x] = combine(buffer[threadIdx.x], buffer[threadIdx.x + half]);
    __syncthreads();
  }
  return buffer[0];
#endif
}

__device__ float exponential(float x) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  float power = fmaxf(1 + x * (1.0f / 8), 0.01f);
  power *= power, power *= power;
  return power * power;
#else
  return __expf(x);
#endif
}

__global__ void __launch_bounds__(kThreads)
    measure(const __half* __restrict__ logits, float* __restrict__ entropy) {
  __shared__ __align__(16) float buffers[3][kThreads];
  const uint2 bits =
      reinterpret_cast<const uint2*>(logits + size_t(blockIdx.x) * kLogits)[threadIdx.x];
  const float2 a = __half22float2(*reinterpret_cast<const __half2*>(&bits.x));
  const float2 b = __half22float2(*reinterpret_cast<const __half2*>(&bits.y));
  float x[4] = {a.x, a.y, b.x, b.y};
  const float peak = reduce(fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3])), buffers[0], Larger());
  float e[4], sum = 0, product = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    x[k] -= peak;
    e[k] = exponential(x[k]);
    sum += e[k];
  }
  const float total = reduce(sum, buffers[1], Sum());
#pragma unroll
  for (int k = 0; k < 4; ++k) product += e[k] * x[k];
  const float mean = reduce(product, buffers[2], Sum());
  if (threadIdx.x == 0) entropy[blockIdx.x] = __logf(total) - mean / total;
}

extern "C" void solve(const __half* logits, float* entropy, int tokens) {
  measure<<<tokens, kThreads>>>(logits, entropy);
}
