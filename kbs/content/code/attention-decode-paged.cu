// ---
// id: code-attention-decode-paged
// title: "Decode attention over a paged key-value cache, keys split over blocks: complete code"
// kind: code
// tags: [attention, memory, bandwidth, warp, softmax]
// architectures: [sm80, sm86, sm89, sm90, sm100, sm120]
// languages: [cuda-cpp]
// aliases: [paged attention code, flash decoding code, split KV code, GQA decode code, KV cache code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_80, sm_90a, sm_120a]
// related: [kernel-attention-decode-paged]
// cures:
//   pattern-small-grid: launch
//   pattern-latency-bound-loads: part
//   pattern-dram-bound-latency: part
//   method-split-k-parallel-reduce: launch
//   method-vectorized-access: part
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0; its splits are tested on the host", publisher: "ratchet"}
//   - {id: flash-decoding, title: "Dao et al., Flash-Decoding for long-context inference", publisher: "PyTorch", date: 2023-10-13, url: "https://pytorch.org/blog/flash-decoding/"}
// task:
//   dims: {batch: 16, kv_heads: 8, group: 4, pages: 256}
//   cases: [{batch: 16, kv_heads: 8, group: 4, pages: 256}, {batch: 3, kv_heads: 2, group: 5, pages: 37}]
//   where: ["group <= 8"]
//   tensors:
//     - {name: q, dtype: bfloat16, shape: [batch, "kv_heads * group", "128"], role: in, init: "uniform(-2,2)"}
//     - {name: k, dtype: bfloat16, shape: ["batch * pages", "16", kv_heads, "128"], role: in, init: "uniform(-2,2)"}
//     - {name: v, dtype: bfloat16, shape: ["batch * pages", "16", kv_heads, "128"], role: in, init: "uniform(-2,2)"}
//     - {name: tables, dtype: int32, shape: [batch, pages], role: in, init: given}
//     - {name: lengths, dtype: int32, shape: [batch], role: in, init: given}
//     - {name: o, dtype: bfloat16, shape: [batch, "kv_heads * group", "128"], role: out}
//   work: {bytes: "8192 * batch * kv_heads * pages", flops: "8192 * batch * kv_heads * group * pages", type: bfloat16}
//   steps: 1
//   library: "torch scaled_dot_product_attention with enable_gqa over a contiguous cache"
// measured:
//   - {step: v0, ms: 0.0907, times_v0: 1, of_library: 0.726, registers: 240, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-24}
// ---

// One query a sequence, [batch][kv_heads * group][128] bf16; keys and values in pages of 16 tokens,
// [page][16][kv_heads][128]; tables[b][i] is the page of tokens 16 i to 16 i + 15 of sequence b, lengths[b] >= 1 its
// tokens. `group` query heads share a key head: a key is read once for all of them.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: how the keys are split; plain C++, tested on the host
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kDim = 128, kPage = 16, kThreads = 128, kWarps = kThreads / 32;
constexpr int kPairs = 4, kTurn = 2 * kPairs;  // a half-warp takes every second of a turn's eight keys
constexpr int kRound = kWarps * kTurn;         // keys that a block reads in a round
constexpr int kMaxGroup = 8, kMaxParts = 1 << 16;
/// Blocks that share the keys of a sequence and head: some rounds of the device, none with fewer than four turns a warp.
__host__ __device__ constexpr int parts_for(int sequences_and_heads, int group, int longest, int processors) {
  const int wanted = (8 * processors + sequences_and_heads - 1) / sequences_and_heads;
  const int useful = (longest + 4 * kRound - 1) / (4 * kRound), room = kMaxParts / (sequences_and_heads * group);
  const int parts = wanted < useful ? wanted : useful;
  return parts < room ? parts : room;
}
/// Keys of a part, whole rounds.
__host__ __device__ constexpr int keys_of_part(int longest, int parts) {
  return (longest + parts * kRound - 1) / (parts * kRound) * kRound;
}

// region part: one block's keys for the queries of one key head
struct Partial {
  float top, sum, out[kDim];  // largest score (base 2), sum of exponentials, sum of weighted values
};
__device__ Partial partials[kMaxParts];

__device__ inline void unpack(float (&to)[8], const uint4& from) {
  const uint32_t words[4] = {from.x, from.y, from.z, from.w};
  #pragma unroll
  for (int i = 0; i < 4; ++i) to[2 * i] = __uint_as_float(words[i] << 16), to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
}

template <int kGroup>
__global__ void __launch_bounds__(kThreads) part(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                                                 const __nv_bfloat16* __restrict__ v, const int* __restrict__ tables,
                                                 const int* __restrict__ lengths, int group, int pages, int keys) {
  __shared__ Partial shared[kWarps][kGroup];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, mine = (lane & 15) * 8, odd = lane >> 4;
  const int head = blockIdx.y, heads = gridDim.y, sequence = blockIdx.z;
  const int begin = blockIdx.x * keys, end = min(begin + keys, lengths[sequence]);
  const size_t first = size_t(sequence) * heads * group + head * group;  // of the queries
  if (begin >= end) return;  // `combine` reads the parts that have keys
  constexpr float kScale = 1.4426950408889634f / 11.313708498984761f;    // 1 / sqrt(128), for exponentials of base 2
  float query[kGroup][8], out[kGroup][8] = {}, top[kGroup], sum[kGroup] = {};
  #pragma unroll
  for (int g = 0; g < kGroup; ++g) {
    top[g] = -INFINITY;
    unpack(query[g], g < group ? *reinterpret_cast<const uint4*>(q + (first + g) * kDim + mine) : make_uint4(0, 0, 0, 0));
    #pragma unroll
    for (int i = 0; i < 8; ++i) query[g][i] *= kScale;
  }
  const int* table = tables + size_t(sequence) * pages;
  const size_t token = size_t(heads) * kDim;  // from one token of a page to the next
  for (int turn = begin + warp * kTurn; turn < end; turn += kRound) {
    const size_t page = (size_t(table[turn / kPage]) * kPage + turn % kPage) * token + size_t(head) * kDim + mine;
    uint4 key_words[kPairs], value_words[kPairs];
    #pragma unroll
    for (int u = 0; u < kPairs; ++u) {  // all loads of a turn before the first use
      const bool inside = turn + 2 * u + odd < end;
      const size_t at = page + (2 * u + odd) * token;
      key_words[u] = inside ? __ldcs(reinterpret_cast<const uint4*>(k + at)) : make_uint4(0, 0, 0, 0);
      value_words[u] = inside ? __ldcs(reinterpret_cast<const uint4*>(v + at)) : make_uint4(0, 0, 0, 0);
    }
    float score[kGroup][kPairs];
    #pragma unroll
    for (int u = 0; u < kPairs; ++u) {
      float key[8];
      unpack(key, key_words[u]);
      #pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        float dot = 0.f;
        #pragma unroll
        for (int i = 0; i < 8; ++i) dot = fmaf(query[g][i], key[i], dot);
        #pragma unroll
        for (int step = 8; step > 0; step /= 2) dot += __shfl_xor_sync(~0u, dot, step);  // within a half-warp
        score[g][u] = turn + 2 * u + odd < end ? dot : -INFINITY;
      }
    }
    #pragma unroll
    for (int g = 0; g < kGroup; ++g) {
      float largest = top[g];
      #pragma unroll
      for (int u = 0; u < kPairs; ++u) largest = fmaxf(largest, score[g][u]);
      const float base = largest == -INFINITY ? 0.f : largest, shrink = exp2f(top[g] - base);
      top[g] = largest;
      sum[g] *= shrink;
      #pragma unroll
      for (int i = 0; i < 8; ++i) out[g][i] *= shrink;
      #pragma unroll
      for (int u = 0; u < kPairs; ++u) sum[g] += score[g][u] = exp2f(score[g][u] - base);
    }
    #pragma unroll
    for (int u = 0; u < kPairs; ++u) {
      float value[8];
      unpack(value, value_words[u]);
      #pragma unroll
      for (int g = 0; g < kGroup; ++g)
        #pragma unroll
        for (int i = 0; i < 8; ++i) out[g][i] = fmaf(score[g][u], value[i], out[g][i]);
    }
  }
  #pragma unroll
  for (int g = 0; g < kGroup; ++g) {  // the two halves of a warp, then the warps
    const float other = __shfl_xor_sync(~0u, top[g], 16), largest = fmaxf(top[g], other);
    const float shrink = top[g] == -INFINITY ? 0.f : exp2f(top[g] - largest);
    sum[g] *= shrink;
    sum[g] += __shfl_xor_sync(~0u, sum[g], 16);
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      out[g][i] *= shrink;
      out[g][i] += __shfl_xor_sync(~0u, out[g][i], 16);
      if (odd == 0) shared[warp][g].out[mine + i] = out[g][i];
    }
    if (lane == 0) shared[warp][g].top = largest, shared[warp][g].sum = sum[g];
  }
  __syncthreads();
  for (int g = 0; g < group; ++g) {
    float largest = -INFINITY, total = 0.f, result = 0.f;
    for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, shared[w][g].top);
    for (int w = 0; w < kWarps; ++w) {
      const float weight = shared[w][g].top == -INFINITY ? 0.f : exp2f(shared[w][g].top - largest);
      total += weight * shared[w][g].sum;
      result += weight * shared[w][g].out[threadIdx.x];
    }
    Partial& to = partials[(first + g) * gridDim.x + blockIdx.x];
    to.out[threadIdx.x] = result;
    if (threadIdx.x == 0) to.top = largest, to.sum = total;
  }
}

// region combine: one block a query
__global__ void __launch_bounds__(kDim) combine(const int* __restrict__ lengths, __nv_bfloat16* __restrict__ o, int parts, int keys) {
  const size_t query = size_t(blockIdx.y) * gridDim.x + blockIdx.x;
  const Partial* from = partials + query * parts;
  const int used = (lengths[blockIdx.y] + keys - 1) / keys;
  float largest = -INFINITY, total = 0.f, result = 0.f;
  for (int i = 0; i < used; ++i) largest = fmaxf(largest, from[i].top);
  for (int i = 0; i < used; ++i) {
    const float weight = from[i].top == -INFINITY ? 0.f : exp2f(from[i].top - largest);
    total += weight * from[i].sum;
    result += weight * from[i].out[threadIdx.x];
  }
  o[query * kDim + threadIdx.x] = __float2bfloat16(result / total);
}

// region launch
extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* tables, const int* lengths,
                      __nv_bfloat16* o, int batch, int kv_heads, int group, int pages, cudaStream_t stream) {
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int longest = pages * kPage, parts = parts_for(batch * kv_heads, group, longest, processors);
  if (group > kMaxGroup || parts < 1) return;  // more queries than `partials` has room for: take them in turns
  const int keys = keys_of_part(longest, parts);
  const auto kernel = group == 1 ? part<1> : group == 2 ? part<2> : group <= 4 ? part<4> : part<8>;
  kernel<<<dim3(parts, kv_heads, batch), kThreads, 0, stream>>>(q, k, v, tables, lengths, group, pages, keys);
  combine<<<dim3(kv_heads * group, batch), kDim, 0, stream>>>(lengths, o, parts, keys);
}
