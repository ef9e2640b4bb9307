// Attention with grouped queries, its second half: the weighted sums of the values of 512 tokens.
// Eight query heads share the values of a group.
// dims: groups=512
// tensor: weights float32 groups*8,512 in
// tensor: values float16 groups*512,128 in
// tensor: sums float32 groups*8,128 out
// without REPEATED_READS: a block has a group's eight heads and reads the values once
// without TREE_IN_SHARED: the partial sums are added up by one thread each
// without ARITHMETIC, other answers: values are multiplied and added in pairs of halves
#include <cuda_fp16.h>
constexpr int kTokens = 512, kWidth = 128, kThreads = 128, kRows = kThreads / 16;
#ifdef WITHOUT_REPEATED_READS
constexpr int kHeads = 8;
#else
constexpr int kHeads = 1;
#endif

__global__ void __launch_bounds__(kThreads)
    weigh_values(const float* __restrict__ weights, const __half* __restrict__ values,
                 float* __restrict__ sums) {
  __shared__ float own[kHeads][kTokens];
  __shared__ float partial[kRows][kWidth];
  const int group = blockIdx.x, head = group * 8 + blockIdx.y * kHeads;
  for (int i = threadIdx.x; i < kHeads * kTokens; i += kThreads)
    own[i / kTokens][i % kTokens] = weights[size_t(head) * kTokens + i];
  __syncthreads();
  const int row = threadIdx.x / 16, column = threadIdx.x % 16 * 8;
  const __half* from = values + size_t(group) * kTokens * kWidth + column;
  float sum[kHeads][8] = {};
#pragma unroll 4
  for (int token = row; token < kTokens; token += kRows) {
    const uint4 bits = *reinterpret_cast<const uint4*>(from + token * kWidth);
    const __half2* pairs = reinterpret_cast<const __half2*>(&bits);
#ifdef WITHOUT_ARITHMETIC
    __half2* halves = reinterpret_cast<__half2*>(sum[0]);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      halves[k] = __hfma2(pairs[k], __float2half2_rn(own[0][token]), halves[k]);
#else
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 value = __half22float2(pairs[k]);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        sum[h][2 * k] += own[h][token] * value.x;
        sum[h][2 * k + 1] += own[h][token] * value.y;
      }
    }
#endif
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) partial[row][column + k] = sum[h][k];
    __syncthreads();
#ifdef WITHOUT_TREE_IN_SHARED
    float total = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) total += partial[r][threadIdx.x];
#else
#pragma unroll
    for (int half = kRows / 2; half > 0; half /= 2) {
      if (row < half)
        for (int k = 0; k < 8; ++k) partial[row][column + k] += partial[row + half][column + k];
      __syncthreads();
    }
    const float total = partial[0][threadIdx.x];
#endif
    sums[size_t(head + h) * kWidth + threadIdx.x] = total;
  }
}

extern "C" void solve(const float* weights, const __half* values, float* sums, int groups) {
  weigh_values<<<dim3(groups, 8 / kHeads), kThreads>>>(weights, values, sums);
}
