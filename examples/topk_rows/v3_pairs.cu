// The threshold of maxima with 512 threads a row, so that half as many registers hold it and twice
// as many warps wait for memory. Two neighbors make one offer. Rows and k that this does not fit
// take the plain way.
//
// ABLATE_memory_vectorized_access loads one float at a time.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

using Key = unsigned long long;

constexpr int kThreads = 512, kOffers = kThreads / 2, kWarps = kThreads / 32;
constexpr int kVectors = 4;                         // of four floats a thread
constexpr int kMostCols = kThreads * kVectors * 4;  // 8192
constexpr int kMostWanted = 32;
constexpr int kMostPassing = kMostWanted * 2 * kVectors * 4;

/// Larger keys come first: the value's bits in order of the values, then the smaller index. Never
/// 0.
__device__ Key key_of(float value, int index) {
  const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 counts as 0
  const uint32_t ordered = bits ^ (bits >> 31 ? ~0u : 0x80000000u);
  return static_cast<Key>(ordered) << 32 | static_cast<uint32_t>(~index);
}

__device__ float4 load_four(const float* row, int c) {
#ifndef ABLATE_memory_vectorized_access
  return *reinterpret_cast<const float4*>(row + c);
#else
  const volatile float* one = row + c;
  return make_float4(one[0], one[1], one[2], one[3]);
#endif
}

__device__ int column_of(int vector) {
  return (vector * kThreads + static_cast<int>(threadIdx.x)) * 4;
}

/// Puts a key that is not below the threshold into the pool.
__device__ void offer(Key* pool, int* passing, Key threshold, float value, int index) {
  const Key key = key_of(value, index);
  if (key >= threshold) pool[atomicAdd(passing, 1)] = key;
}

/// cols a multiple of 4, at most kMostCols; k at most kMostWanted; fewer threads than k may have
/// elements, then the threshold is 0 and everything passes.
__global__ void __launch_bounds__(kThreads)
    top_k(const float* x, float* values, int* indices, int cols, int k) {
  __shared__ __align__(16) Key offers[kOffers];
  __shared__ Key pool[kMostPassing];
  __shared__ Key threshold;
  __shared__ int passing;
  const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
  const int t = threadIdx.x;
  float4 mine[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (column_of(v) < cols) mine[v] = load_four(row, column_of(v));
  Key largest = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (const int c = column_of(v); c < cols) {
      largest = max(largest, key_of(mine[v].x, c));
      largest = max(largest, key_of(mine[v].y, c + 1));
      largest = max(largest, key_of(mine[v].z, c + 2));
      largest = max(largest, key_of(mine[v].w, c + 3));
    }
  largest = max(largest, __shfl_xor_sync(~0u, largest, 1));
  if (t % 2 == 0) offers[t / 2] = largest;
  if (t == 0) passing = 0, threshold = 0;
  __syncthreads();
  int rank = 0;
#pragma unroll 8
  for (int i = 0; i < kOffers; i += 2) {
    const ulonglong2 two = *reinterpret_cast<const ulonglong2*>(offers + i);
    rank += (two.x > largest) + (two.y > largest);
  }
  if (rank == k - 1 && largest != 0) threshold = largest;
  __syncthreads();
  const Key least = threshold;
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (const int c = column_of(v); c < cols && largest >= least) {
      const float4 four = mine[v];
      offer(pool, &passing, least, four.x, c);
      offer(pool, &passing, least, four.y, c + 1);
      offer(pool, &passing, least, four.z, c + 2);
      offer(pool, &passing, least, four.w, c + 3);
    }
  __syncthreads();
  const int count = passing;
  for (int i = t; i < count; i += kThreads) {
    int place = 0;
    for (int j = 0; j < count; ++j) place += pool[j] > pool[i];
    if (place >= k) continue;
    const int index = static_cast<int>(~static_cast<uint32_t>(pool[i]));
    values[static_cast<int64_t>(blockIdx.x) * k + place] = row[index];
    indices[static_cast<int64_t>(blockIdx.x) * k + place] = index;
  }
}

/// Any size: k rounds, each a search for the largest key below the last one.
__global__ void __launch_bounds__(kThreads)
    top_any(const float* x, float* values, int* indices, int cols, int k) {
  __shared__ Key of_warp[2][kWarps];
  const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
  Key last = ~0ull;
  for (int round = 0; round < k; ++round) {
    Key best = 0;
    for (int c = threadIdx.x; c < cols; c += kThreads) {
      const Key key = key_of(row[c], c);
      if (key < last && key > best) best = key;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) best = max(best, __shfl_xor_sync(~0u, best, step));
    Key* here = of_warp[round % 2];
    if (threadIdx.x % 32 == 0) here[threadIdx.x / 32] = best;
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) best = max(best, here[w]);
    if (threadIdx.x == 0) {
      const int index = static_cast<int>(~static_cast<uint32_t>(best));
      values[static_cast<int64_t>(blockIdx.x) * k + round] = row[index];
      indices[static_cast<int64_t>(blockIdx.x) * k + round] = index;
    }
    last = best;
  }
}

}  // namespace

extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols, int k) {
  const bool fits = cols % 4 == 0 && cols <= kMostCols && k <= kMostWanted &&
                    reinterpret_cast<uintptr_t>(x) % 16 == 0;
  if (fits)
    top_k<<<rows, kThreads>>>(x, values, indices, cols, k);
  else
    top_any<<<rows, kThreads>>>(x, values, indices, cols, k);
}
