// Radix selection, one block a row: four times the digits of the keys that still compete are
// counted in shared memory, from the highest byte down, until the k-th largest key is known; then
// what is larger is collected, equal ones in order of the row, and ranked by counting. At most 256
// wanted.
//
// ABLATE_latency_warp_aggregated_atomics lets every lane add by itself.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

using Key = unsigned long long;

constexpr int kThreads = 256, kWarps = kThreads / 32, kDigits = 256, kMost = 256;

__device__ uint32_t ordered(float value) {
  const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 counts as 0
  return bits ^ (bits >> 31 ? ~0u : 0x80000000u);
}

/// Adds one to the counter of a digit, once for all lanes that have the same. `takes_part` may be
/// false.
__device__ void count_digit(int* counters, int digit, bool takes_part) {
#ifndef ABLATE_latency_warp_aggregated_atomics
  const unsigned same = __match_any_sync(~0u, takes_part ? digit : -1);
  if (takes_part && static_cast<int>(threadIdx.x % 32) == __ffs(same) - 1)
    atomicAdd(&counters[digit], __popc(same));
#else
  if (takes_part) atomicAdd(&counters[digit], 1);
#endif
}

/// How many keys of larger digits there are, by digit; thread d answers for digit d.
__device__ int larger_than(const int* counters, int* of_warp) {
  const int d = threadIdx.x, lane = d % 32;
  int sum = counters[d];
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_down_sync(~0u, sum, step);
    if (lane + step < 32) sum += other;
  }
  if (lane == 0) of_warp[d / 32] = sum;
  __syncthreads();
  for (int w = d / 32 + 1; w < kWarps; ++w) sum += of_warp[w];
  return sum - counters[d];
}

__global__ void __launch_bounds__(kThreads)
    top_k(const float* x, float* values, int* indices, int cols, int k) {
  __shared__ int counters[kDigits], of_warp[kWarps];
  __shared__ uint32_t prefix;
  __shared__ int wanted, taken, taken_equal;
  __shared__ Key found[kMost];
  const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
  const int t = threadIdx.x, rounded = (cols + kThreads - 1) / kThreads * kThreads;
  if (t == 0) prefix = 0, wanted = k, taken = 0, taken_equal = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    counters[t] = 0;
    __syncthreads();
    for (int c = t; c < rounded; c += kThreads) {
      const uint32_t key = c < cols ? ordered(row[c]) : 0;
      const bool competes =
          c < cols && (shift == 24 || key >> (shift + 8) == prefix >> (shift + 8));
      count_digit(counters, key >> shift & 0xff, competes);
    }
    __syncthreads();
    const int larger = larger_than(counters, of_warp), need = wanted;
    __syncthreads();
    if (larger < need && need <= larger + counters[t]) {
      prefix |= static_cast<uint32_t>(t) << shift;
      wanted = need - larger;
    }
    __syncthreads();
  }
  // `prefix` is the k-th largest; `wanted` of the elements equal to it belong to the answer, the
  // first ones.
  const uint32_t least = prefix;
  const int equal_wanted = wanted;
  for (int begin = 0; begin < rounded; begin += kThreads) {
    const int c = begin + t;
    const uint32_t key = c < cols ? ordered(row[c]) : 0;
    const Key whole = static_cast<Key>(key) << 32 | static_cast<uint32_t>(~c);
    if (c < cols && key > least) found[atomicAdd(&taken, 1)] = whole;
    const bool equal = c < cols && key == least;
    if (__syncthreads_or(equal && taken_equal < equal_wanted)) {
      const unsigned lanes = __ballot_sync(~0u, equal);
      if (t % 32 == 0) of_warp[t / 32] = __popc(lanes);
      __syncthreads();
      int place = taken_equal + __popc(lanes & ((1u << t % 32) - 1));
      for (int w = 0; w < t / 32; ++w) place += of_warp[w];
      if (equal && place < equal_wanted) found[k - equal_wanted + place] = whole;
      __syncthreads();
      if (t == 0)
        for (int w = 0; w < kWarps; ++w) taken_equal += of_warp[w];
      __syncthreads();
    }
  }
  __syncthreads();
  if (t >= k) return;
  int rank = 0;
  for (int i = 0; i < k; ++i) rank += found[i] > found[t];
  const int index = static_cast<int>(~static_cast<uint32_t>(found[t]));
  values[static_cast<int64_t>(blockIdx.x) * k + rank] = row[index];
  indices[static_cast<int64_t>(blockIdx.x) * k + rank] = index;
}

}  // namespace

extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols, int k) {
  top_k<<<rows, kThreads>>>(x, values, indices, cols, k);
}
