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
//   method-split-k-parallel-reduce: part
//   method-vectorized-access: part
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0; its splits and operands are tested on the host", publisher: "ratchet"}
//   - {id: flash-decoding, title: "Dao et al., Flash-Decoding for long-context inference", publisher: "PyTorch", date: 2023-10-13, url: "https://pytorch.org/blog/flash-decoding/", date: 2023-10-13}
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
//   - {step: v0, ms: 0.0705, times_v0: 1, of_library: 0.947, registers: 158, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// One query a sequence, [batch][kv_heads * group][128] bf16; keys and values in pages of 16 tokens,
// [page][16][kv_heads][128]; tables[b][i] is the page of tokens 16 i to 16 i + 15 of sequence b, lengths[b] >= 1 its
// tokens. `group` query heads (at most 8) share a key head: the tensor cores multiply a page by all of them at once.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: how the keys are split and where numbers lie; plain C++, tested on the host
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kDim = 128, kPage = 16, kWarps = 4, kThreads = 32 * kWarps, kMaxGroup = 8, kMaxParts = 1 << 16;
constexpr int kResident = 3;  // blocks an SM
/// Blocks that share the pages of a sequence and head: as many as the device holds, each with two pages a warp at least.
__host__ __device__ constexpr int parts_for(int sequences_and_heads, int group, int pages, int processors) {
  const int wanted = kResident * processors / sequences_and_heads, useful = (pages + 2 * kWarps - 1) / (2 * kWarps);
  const int room = kMaxParts / (sequences_and_heads * group);
  const int parts = wanted < useful ? wanted : useful;
  return parts < 1 && room > 0 ? 1 : parts < room ? parts : room;
}
__host__ __device__ constexpr int pages_of_part(int pages, int parts) {
  return (pages + parts * kWarps - 1) / (parts * kWarps) * kWarps;
}
/// The first of eight dimensions of a lane's chunk. Sums over dimensions take them in any order, so a lane's 16 bytes
/// of a key serve two products: words 0 and 1 are its part of the first, words 2 and 3 of the second.
__host__ __device__ constexpr int key_dim(int lane, int chunk) { return lane % 4 * 8 + chunk * 32; }
/// Values: a lane has four keys (0, 1, 8, 9 from this one on) and two chunks of eight dimensions.
__host__ __device__ constexpr int value_key(int lane, int i) { return lane % 4 * 2 + i % 2 + i / 2 * 8; }
__host__ __device__ constexpr int value_dim(int lane, int chunk) { return lane / 4 * 8 + chunk * 64; }
/// Head and dimension of output i of product t.
__host__ __device__ constexpr int out_head(int lane, int i) { return lane % 4 * 2 + i % 2; }
__host__ __device__ constexpr int out_dim(int lane, int t, int i) { return value_dim(lane, t / 4) + t % 4 * 2 + i / 2; }

// region products
/// 16 x 16 times 16 x 8, onto d.
__device__ inline void mma(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
/// The 8 x 8 matrix of which each lane has two neighbors of a row, transposed.
__device__ inline uint32_t transposed(uint32_t two) {
  uint32_t to;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(to) : "r"(two));
  return to;
}
__device__ inline uint32_t packed(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&two);
}
__device__ inline float power2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline uint4 read(const __nv_bfloat16* at) {
  return __ldcs(reinterpret_cast<const uint4*>(at));
}

// region part: one block's pages for the queries of one key head
struct Partial {
  float top, sum, out[kDim];  // largest score (base 2), sum of exponentials, sum of weighted values
};
__device__ Partial partials[kMaxParts];
__device__ unsigned finished[kMaxParts];  // blocks of a sequence and head; zero again at the end

__global__ void __launch_bounds__(kThreads, kResident)
    decode(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v,
           const int* __restrict__ tables, const int* __restrict__ lengths, __nv_bfloat16* __restrict__ o, int group,
           int pages, int share) {
  __shared__ Partial shared[kWarps][kMaxGroup];
  __shared__ bool is_last;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int head = blockIdx.x, heads = gridDim.x, part = blockIdx.y, sequence = blockIdx.z, length = lengths[sequence];
  const int used = (length + kPage - 1) / kPage, end = min(part * share + share, used), parts = (used + share - 1) / share;
  if (part >= parts) return;
  const size_t first = (size_t(sequence) * heads + head) * group;  // of the queries
  constexpr float kScale = 1.4426950408889634f / 11.313708498984761f;  // 1 / sqrt(128), for exponentials of base 2
  uint4 query[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i)
    query[i] = lane / 4 < group ? *reinterpret_cast<const uint4*>(q + (first + lane / 4) * kDim + key_dim(lane, i)) : make_uint4(0, 0, 0, 0);
  const int* table = tables + size_t(sequence) * pages;
  const int token = heads * kDim;  // from one token of a page to the next
  const __nv_bfloat16* k_from = k + size_t(lane / 4) * token + head * kDim + key_dim(lane, 0);
  const __nv_bfloat16* v_from = v + size_t(value_key(lane, 0)) * token + head * kDim + value_dim(lane, 0);
  uint4 keys[2][4], values[4][2];
  const auto read_keys = [&](int page) {
  #pragma unroll
    for (int row = 0; row < 2; ++row)
  #pragma unroll
      for (int i = 0; i < 4; ++i) keys[row][i] = read(k_from + size_t(page) * kPage * token + row * 8 * token + key_dim(0, i));
  };
  float out[8][4] = {}, top[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  int at = part * share + warp, page = at < end ? table[at] : 0;
  if (at < end) read_keys(page);
  for (; at < end; at += kWarps) {
    const int next = at + kWarps < end ? table[at + kWarps] : 0;
  #pragma unroll
    for (int i = 0; i < 4; ++i)
  #pragma unroll
      for (int chunk = 0; chunk < 2; ++chunk)
        values[i][chunk] = read(v_from + size_t(page) * kPage * token + (value_key(0, i)) * token + value_dim(0, chunk));
    float score[4] = {};  // keys lane / 4 and lane / 4 + 8, two heads each
  #pragma unroll
    for (int i = 0; i < 4; ++i) {
      mma(score, keys[0][i].x, keys[1][i].x, keys[0][i].y, keys[1][i].y, query[i].x, query[i].y);
      mma(score, keys[0][i].z, keys[1][i].z, keys[0][i].w, keys[1][i].w, query[i].z, query[i].w);
    }
    if (at + kWarps < end) read_keys(next);
    page = next;
    const int left = length - at * kPage;
    if (left < kPage) {  // the last page: what lies behind the end may be anything
      if (lane / 4 >= left) score[0] = score[1] = -INFINITY;
      if (lane / 4 + 8 >= left) score[2] = score[3] = -INFINITY;
  #pragma unroll
      for (int i = 0; i < 4; ++i)
        if (value_key(lane, i) >= left) values[i][0] = values[i][1] = make_uint4(0, 0, 0, 0);
    }
  #pragma unroll
    for (int h = 0; h < 2; ++h) {
      float largest = fmaxf(score[h], score[h + 2]);
  #pragma unroll
      for (int step = 4; step < 32; step *= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, step));
      largest = fmaxf(top[h], largest * kScale);  // a page that is read has a key: it is no infinity
      const float shrink = power2(top[h] - largest);
      top[h] = largest;
      score[h] = power2(fmaf(score[h], kScale, -largest));
      score[h + 2] = power2(fmaf(score[h + 2], kScale, -largest));
      sum[h] = fmaf(sum[h], shrink, score[h] + score[h + 2]);
  #pragma unroll
      for (int t = 0; t < 8; ++t) out[t][h] *= shrink, out[t][h + 2] *= shrink;
    }
    const uint32_t low = transposed(packed(score[0], score[1])), high = transposed(packed(score[2], score[3]));
  #pragma unroll
    for (int t = 0; t < 8; ++t) {
      uint32_t two[4];  // the two dimensions of product t for each of the lane's keys
  #pragma unroll
      for (int i = 0; i < 4; ++i) two[i] = reinterpret_cast<const uint32_t*>(&values[i][t / 4])[t % 4];
      mma(out[t], __byte_perm(two[0], two[1], 0x5410), __byte_perm(two[0], two[1], 0x7632),
          __byte_perm(two[2], two[3], 0x5410), __byte_perm(two[2], two[3], 0x7632), low, high);
    }
  }
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
  #pragma unroll
    for (int step = 4; step < 32; step *= 2) sum[h] += __shfl_xor_sync(~0u, sum[h], step);
    Partial& to = shared[warp][out_head(lane, h)];
  #pragma unroll
    for (int t = 0; t < 8; ++t) to.out[out_dim(lane, t, h)] = out[t][h], to.out[out_dim(lane, t, h + 2)] = out[t][h + 2];
    if (lane < 4) to.top = top[h], to.sum = sum[h];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < group * kDim; i += kThreads) {  // the warps
    const int g = i / kDim, d = i % kDim;
    float largest = -INFINITY, total = 0.f, result = 0.f;
    for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, shared[w][g].top);
    for (int w = 0; w < kWarps; ++w) {
      const float weight = power2(shared[w][g].top - largest);
      total += weight * shared[w][g].sum;
      result += weight * shared[w][g].out[d];
    }
    Partial& to = partials[(first + g) * gridDim.y + part];
    to.out[d] = result;
    if (d == 0) to.top = largest, to.sum = total;
  }
  // The last block of a sequence and head puts the parts together.
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned& count = finished[sequence * heads + head];
    is_last = atomicAdd(&count, 1) == unsigned(parts - 1);
    if (is_last) count = 0;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (int i = threadIdx.x; i < group * kDim; i += kThreads) {
    const int g = i / kDim, d = i % kDim;
    const Partial* from = partials + (first + g) * gridDim.y;
    float largest = -INFINITY, total = 0.f, result = 0.f;
    for (int p = 0; p < parts; ++p) largest = fmaxf(largest, __ldcg(&from[p].top));
    for (int p = 0; p < parts; ++p) {
      const float weight = power2(__ldcg(&from[p].top) - largest);
      total += weight * __ldcg(&from[p].sum);
      result += weight * __ldcg(&from[p].out[d]);
    }
    o[(first + g) * kDim + d] = __float2bfloat16(result / total);
  }
}

// region launch
extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* tables, const int* lengths,
                      __nv_bfloat16* o, int batch, int kv_heads, int group, int pages, cudaStream_t stream) {
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int parts = parts_for(batch * kv_heads, group, pages, processors);
  if (group > kMaxGroup || parts < 1) return;  // more queries than `partials` has room for: take them in turns
  decode<<<dim3(kv_heads, parts, batch), kThreads, 0, stream>>>(q, k, v, tables, lengths, o, group, pages, pages_of_part(pages, parts));
}
