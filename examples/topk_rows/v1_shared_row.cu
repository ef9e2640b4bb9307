// The row as sortable integers in shared memory, then k rounds of finding the largest key: shuffles
// within warps, one barrier pair a round, and the winner's own slice is the only one searched
// again. Rows that do not fit stay in global memory.
//
// ABLATE_memory_tiling_smem reads the row from global memory in every search.
// ABLATE_compute_warp_shuffle finds the winner of a round in a tree of shared memory.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

using Key = unsigned long long;

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kMostCols = 12000;  // of 48 KB, some for the keys of the warps

/// Larger keys come first: the value's bits in order of the values, then the smaller index. Never
/// 0.
__device__ Key key_of(float value, int index) {
  const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 counts as 0
  const uint32_t ordered = bits ^ (bits >> 31 ? ~0u : 0x80000000u);
  return static_cast<Key>(ordered) << 32 | static_cast<uint32_t>(~index);
}

__device__ Key largest_of_warp(Key key) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const Key other = __shfl_xor_sync(~0u, key, step);
    if (other > key) key = other;
  }
  return key;
}

/// The largest key of a thread's slice that is smaller than `below`.
__device__ Key largest_of_slice(const float* row, int cols, Key below) {
  Key best = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const Key key = key_of(row[c], c);
    if (key < below && key > best) best = key;
  }
  return best;
}

__global__ void __launch_bounds__(kThreads)
    top_k(const float* x, float* values, int* indices, int cols, int k) {
  extern __shared__ float kept[];
#ifndef ABLATE_compute_warp_shuffle
  __shared__ Key of_warp[2][kWarps];
#else
  __shared__ Key of_thread[kThreads];
#endif
  const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
#ifndef ABLATE_memory_tiling_smem
  if (cols <= kMostCols) {
    for (int c = threadIdx.x; c < cols; c += kThreads)
      kept[c] = row[c];  // read by the same thread only
    row = kept;
  }
#endif
  Key mine = largest_of_slice(row, cols, ~0ull);
  for (int round = 0; round < k; ++round) {
#ifndef ABLATE_compute_warp_shuffle
    Key* here = of_warp[round % 2];
    const Key of_mine = largest_of_warp(mine);
    if (threadIdx.x % 32 == 0) here[threadIdx.x / 32] = of_mine;
    __syncthreads();
    Key winner = here[0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w)
      if (here[w] > winner) winner = here[w];
#else
    of_thread[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half && of_thread[threadIdx.x + half] > of_thread[threadIdx.x])
        of_thread[threadIdx.x] = of_thread[threadIdx.x + half];
      __syncthreads();
    }
    const Key winner = of_thread[0];
    __syncthreads();
#endif
    if (mine == winner) {
      const int index = static_cast<int>(~static_cast<uint32_t>(winner));
      values[static_cast<int64_t>(blockIdx.x) * k + round] = row[index];
      indices[static_cast<int64_t>(blockIdx.x) * k + round] = index;
      mine = largest_of_slice(row, cols, winner);
    }
  }
}

}  // namespace

extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols, int k) {
  const size_t shared = cols <= kMostCols ? sizeof(float) * cols : 0;
  top_k<<<rows, kThreads, shared>>>(x, values, indices, cols, k);
}
