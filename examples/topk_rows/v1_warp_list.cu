// One warp a row. The lanes hold the 32 largest keys so far in order; of every 32 new elements only
// those above the smallest kept one matter, and only then the warp sorts and merges. Random rows
// ask for that some hundred times, ascending rows every time. More than 32 wanted: k rounds, as a
// plain kernel.
//
// ABLATE_compute_branch_eliminate sorts and merges every 32 elements without asking.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

using Key = unsigned long long;

constexpr int kThreads = 128, kRowsPerBlock = kThreads / 32;

/// Larger keys come first: the value's bits in order of the values, then the smaller index. Never
/// 0.
__device__ Key key_of(float value, int index) {
  const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 counts as 0
  const uint32_t ordered = bits ^ (bits >> 31 ? ~0u : 0x80000000u);
  return static_cast<Key>(ordered) << 32 | static_cast<uint32_t>(~index);
}

/// Exchanges keys with the lane `step` away, keeping the larger one or the smaller one.
__device__ Key exchange(Key key, int step, bool keep_larger) {
  const Key other = __shfl_xor_sync(~0u, key, step);
  return (other > key) == keep_larger ? other : key;
}

/// Sorts the keys of a warp, largest in lane 0.
__device__ Key sorted(Key key) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int size = 2; size <= 32; size *= 2)
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2)
      key = exchange(key, step, ((lane & step) == 0) == ((lane & size) == 0));
  return key;
}

/// The 32 largest of two sorted lists, sorted.
__device__ Key merged(Key kept, Key more) {
  const int lane = threadIdx.x % 32;
  const Key turned = __shfl_sync(~0u, more, 31 - lane);
  Key key = turned > kept ? turned : kept;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) key = exchange(key, step, (lane & step) == 0);
  return key;
}

__device__ void store(const float* row, float* values, int* indices, int64_t at, Key key) {
  const int index = static_cast<int>(~static_cast<uint32_t>(key));
  values[at] = row[index];
  indices[at] = index;
}

__global__ void __launch_bounds__(kThreads)
    top_k(const float* x, float* values, int* indices, int rows, int cols, int k) {
  const int64_t r = static_cast<int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + r * cols;
  Key kept = 0;
  for (int c = 0; c < cols; c += 32) {
    const Key key = c + lane < cols ? key_of(row[c + lane], c + lane) : 0;
#ifndef ABLATE_compute_branch_eliminate
    const Key least = __shfl_sync(~0u, kept, 31);
    if (__any_sync(~0u, key > least)) kept = merged(kept, sorted(key));
#else
    kept = merged(kept, sorted(key));
#endif
  }
  if (lane < k) store(row, values, indices, r * k + lane, kept);
}

/// For more than 32: every round looks for the largest key below the last one.
__global__ void __launch_bounds__(kThreads)
    top_many(const float* x, float* values, int* indices, int rows, int cols, int k) {
  const int64_t r = static_cast<int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + r * cols;
  Key last = ~0ull;
  for (int round = 0; round < k; ++round) {
    Key best = 0;
    for (int c = lane; c < cols; c += 32) {
      const Key key = key_of(row[c], c);
      if (key < last && key > best) best = key;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) best = exchange(best, step, true);
    if (lane == 0) store(row, values, indices, r * k + round, best);
    last = best;
  }
}

}  // namespace

extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols, int k) {
  const int blocks = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
  if (k <= 32)
    top_k<<<blocks, kThreads>>>(x, values, indices, rows, cols, k);
  else
    top_many<<<blocks, kThreads>>>(x, values, indices, rows, cols, k);
}
