// ---
// id: code-attention-mma
// title: "Attention forward with mma.sync and cp.async (online softmax): complete code"
// kind: code
// tags: [attention, tensor-cores, cp-async, softmax, bank-conflicts]
// architectures: [sm80, sm86, sm89, sm90, sm100, sm120]
// languages: [cuda-cpp]
// aliases: [flash attention code, FlashAttention-2 code, attention forward code, online softmax code, prefill attention code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_80, sm_90a, sm_120a]
// related: [kernel-attention-mma]
// cures:
//   method-kernel-fusion: kernel
//   method-online-recomputation: softmax
//   method-ldmatrix-stmatrix: products
//   method-mufu-ex2-softmax-replacement: softmax
//   method-gemm-softmax-interleave: kernel
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0; its index arithmetic is tested on the host", publisher: "ratchet"}
//   - {id: flash-attention-2, title: "Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning, arXiv 2307.08691", publisher: "arXiv", url: "https://arxiv.org/abs/2307.08691", date: 2023-07}
// task:
//   dims: {heads: 64, tokens: 4096}
//   cases: [{heads: 64, tokens: 4096}, {heads: 16, tokens: 1001}]
//   scalars: {causal: 0}
//   also: [{causal: 1}]
//   tensors:
//     - {name: q, dtype: bfloat16, shape: [heads, tokens, "128"], role: in, init: "uniform(-2,2)"}
//     - {name: k, dtype: bfloat16, shape: [heads, tokens, "128"], role: in, init: "uniform(-2,2)"}
//     - {name: v, dtype: bfloat16, shape: [heads, tokens, "128"], role: in, init: "uniform(-2,2)"}
//     - {name: o, dtype: bfloat16, shape: [heads, tokens, "128"], role: out}
//   work: {bytes: "1024 * heads * tokens", flops: "512 * heads * tokens * tokens", type: bfloat16}
//   steps: 2
//   library: "torch scaled_dot_product_attention, flash back end"
// measured:
//   - {step: v0, ms: 1.9, times_v0: 1, of_library: 0.813, registers: 255, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v1, ms: 1.5, times_v0: 1.26, of_library: 1.03, registers: 254, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// o = softmax(q k^T / sqrt(128)) v for each head; q, k, v, o are [heads][tokens][128], bf16, sums in fp32. With
// `causal` a token sees itself and those before it. Batch and heads are one dimension here.
//
// STEP is a rung of the ladder: 0 exponentials by exp2f, tiles of 32 keys; 1 by ex2.approx.ftz, tiles of 64 keys, half
// the barriers.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: where everything lies; plain C++, tested on the host
#ifndef STEP
#define STEP 1
#endif
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kDim = 128, kQueries = 128, kKeys = STEP >= 1 ? 64 : 32, kThreads = 128;  // 4 warps of 32 queries
constexpr float kScale = 1.4426950408889634f / 11.313708498984761f;    // 1 / sqrt(128), for exponentials of base 2
constexpr int kRows = 2, kColumns = kKeys / 8, kOuts = kDim / 8;       // 16-row and 8-column tiles of a warp
/// Place of a 16-byte chunk in a tile of 256-byte rows: exchanged by the row, so that eight rows of one chunk
/// column lie in eight different groups of banks.
__host__ __device__ constexpr int place(int row, int chunk) { return row * kDim + ((chunk ^ (row & 7)) * 8); }
/// In bytes: d pairs of chunks further is an exclusive or, a multiple of eight rows further an addition.
__host__ __device__ constexpr uint32_t two_chunks(int d) { return d * 32; }
__host__ __device__ constexpr uint32_t rows_further(int rows) { return rows * kDim * 2; }
/// Row and chunk whose address a lane gives to ldmatrix.x4. Queries and values: 16 rows x two chunks; keys: two
/// groups of eight keys x two chunks.
__host__ __device__ constexpr int a_row(int lane) { return lane & 15; }
__host__ __device__ constexpr int a_chunk(int lane) { return lane >> 4; }
__host__ __device__ constexpr int k_row(int lane) { return (lane & 7) + ((lane >> 4) << 3); }
__host__ __device__ constexpr int k_chunk(int lane) { return (lane >> 3) & 1; }
/// Row and column of accumulator i of a lane in a 16 x 8 tile.
__host__ __device__ constexpr int d_row(int lane, int i) { return (lane >> 2) + (i >> 1) * 8; }
__host__ __device__ constexpr int d_col(int lane, int i) { return (lane & 3) * 2 + (i & 1); }
/// Tiles of keys that the queries from `first` on can see.
__host__ __device__ constexpr int key_tiles(int first, int tokens, int causal) {
  const int seen = causal && first + kQueries < tokens ? first + kQueries : tokens;
  return (seen + kKeys - 1) / kKeys;
}

// region copies
__device__ inline uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline void wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
/// Fetches rows [first, first + kTileRows) of a head; rows beyond the last are zero. A thread keeps its chunk and
/// its row modulo 8, so that all its places are a constant apart.
template <int kTileRows>
__device__ inline void fetch(__nv_bfloat16* tile, const __nv_bfloat16* head, int first, int tokens, int thread) {
  constexpr int kStep = kThreads / (kDim / 8);  // rows at a time
  const int row = thread / (kDim / 8), chunk = thread % (kDim / 8);
  const uint32_t to = shared_address(tile + place(row, chunk));
  const __nv_bfloat16* from = head + size_t(first + row) * kDim + chunk * 8;
  #pragma unroll
  for (int i = 0; i < kTileRows / kStep; ++i) {
    const bool inside = first + row + i * kStep < tokens;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + i * kStep * kDim * 2),
                 "l"(from + i * kStep * kDim), "r"(inside ? 16 : 0) : "memory");  // of size 0: nothing is read
  }
}

// region products
__device__ inline void load4(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ inline void load4_transposed(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline uint32_t packed(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&two);
}

// region softmax
/// exp2f without -use_fast_math scales arguments whose result would be denormal; those are zero here.
__device__ inline float power2(float x) {
#if STEP >= 1
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}
/// Scores of one row of tiles become exponentials; largest, sum and outputs so far are brought to the new largest.
__device__ inline void soften(float (&s)[kColumns][4], float (&o)[kOuts][4], float (&top)[2], float (&sum)[2]) {
  #pragma unroll
  for (int half = 0; half < 2; ++half) {  // rows lane / 4 and lane / 4 + 8
    float largest = top[half];
    #pragma unroll
    for (int j = 0; j < kColumns; ++j) largest = fmaxf(largest, fmaxf(s[j][2 * half], s[j][2 * half + 1]));
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));  // four lanes share a row
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
    const float base = largest == -INFINITY ? 0.f : largest * kScale;  // (-inf) - (-inf) is no number
    const float shrink = power2(top[half] * kScale - base);
    top[half] = largest;
    sum[half] *= shrink;
    if (__any_sync(~0u, shrink != 1.f)) {  // after some tiles the largest score rarely changes
      #pragma unroll
      for (int j = 0; j < kOuts; ++j) o[j][2 * half] *= shrink, o[j][2 * half + 1] *= shrink;
    }
    #pragma unroll
    for (int j = 0; j < kColumns; ++j)
      #pragma unroll
      for (int e = 2 * half; e < 2 * half + 2; ++e) sum[half] += s[j][e] = power2(fmaf(s[j][e], kScale, -base));
  }
}

// region kernel
__global__ void __launch_bounds__(kThreads, 2) attention(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                                                         const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o,
                                                         int tokens, int causal) {
  extern __shared__ __align__(1024) __nv_bfloat16 tiles[];
  __nv_bfloat16 *q_tile = tiles, *k_tile = q_tile + kQueries * kDim, *v_tile = k_tile + kKeys * kDim;
  int thread = threadIdx.x;
  const int lane = threadIdx.x & 31, warp_row = (threadIdx.x >> 5) * 32;
  const int first = (gridDim.x - 1 - blockIdx.x) * kQueries;  // the longest rows of a causal head begin first
  const size_t head = size_t(blockIdx.y) * tokens * kDim;
  const int count = key_tiles(first, tokens, causal);
  fetch<kQueries>(q_tile, q + head, first, tokens, thread);
  fetch<kKeys>(k_tile, k + head, 0, tokens, thread);
  commit();
  // One address a lane and tile: two chunks further is an exclusive or, rows further are an addition.
  uint32_t q_at = shared_address(q_tile + place(warp_row + a_row(lane), a_chunk(lane)));
  uint32_t k_at = shared_address(k_tile + place(k_row(lane), k_chunk(lane)));
  uint32_t v_at = shared_address(v_tile + place(a_row(lane), a_chunk(lane)));
  float out[kRows][kOuts][4] = {}, top[kRows][2], sum[kRows][2] = {};
  for (auto& row : top) row[0] = row[1] = -INFINITY;
  for (int tile = 0; tile < count; ++tile) {
    asm volatile("" : "+r"(q_at), "+r"(k_at), "+r"(v_at), "+r"(thread));  // or what follows from them is kept, and spills
    wait_all();
    __syncthreads();  // the keys are there, and all have read the values of the tile before
    fetch<kKeys>(v_tile, v + head, tile * kKeys, tokens, thread);
    commit();
    float s[kRows][kColumns][4] = {};
    #pragma unroll
    for (int d = 0; d < kDim / 16; ++d) {
      uint32_t a[kRows][4];
      #pragma unroll
      for (int i = 0; i < kRows; ++i) load4(a[i], (q_at ^ two_chunks(d)) + rows_further(i * 16));
      #pragma unroll
      for (int j = 0; j < kColumns; j += 2) {
        uint32_t b[4];
        load4(b, (k_at ^ two_chunks(d)) + rows_further(j * 8));
        #pragma unroll
        for (int i = 0; i < kRows; ++i) mma(s[i][j], a[i], b[0], b[1]), mma(s[i][j + 1], a[i], b[2], b[3]);
      }
    }
    wait_all();
    __syncthreads();  // the values are there, and all have read the keys
    if (tile + 1 < count) fetch<kKeys>(k_tile, k + head, (tile + 1) * kKeys, tokens, thread);
    commit();
    #pragma unroll
    for (int i = 0; i < kRows; ++i) {
      // Keys of this tile that the first row of the 16 sees; with `causal` each row sees one more.
      const int seen = (causal ? min(first + warp_row + i * 16 + 1, tokens) : tokens) - tile * kKeys;
      if (seen < kKeys) {
        #pragma unroll
        for (int j = 0; j < kColumns; ++j)
          #pragma unroll
          for (int e = 0; e < 4; ++e)
            if (j * 8 + d_col(lane, e) >= seen + (causal ? d_row(lane, e) : 0)) s[i][j][e] = -INFINITY;
      }
      soften(s[i], out[i], top[i], sum[i]);
    }
    #pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {  // the accumulators of two tiles are the left operand of the next product
      uint32_t a[kRows][4];
      #pragma unroll
      for (int i = 0; i < kRows; ++i)
        #pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = packed(s[i][2 * j + e / 2][e % 2 * 2], s[i][2 * j + e / 2][e % 2 * 2 + 1]);
      #pragma unroll
      for (int d = 0; d < kOuts; d += 2) {
        uint32_t b[4];
        load4_transposed(b, (v_at ^ two_chunks(d / 2)) + rows_further(j * 16));
        #pragma unroll
        for (int i = 0; i < kRows; ++i) mma(out[i][d], a[i], b[0], b[1]), mma(out[i][d + 1], a[i], b[2], b[3]);
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < kRows; ++i)
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = sum[i][half];
      total += __shfl_xor_sync(~0u, total, 1);
      total += __shfl_xor_sync(~0u, total, 2);
      const float share = 1.f / total;
      const int row = first + warp_row + i * 16 + d_row(lane, 2 * half);
      if (row >= tokens) continue;
      #pragma unroll
      for (int d = 0; d < kOuts; ++d)
        *reinterpret_cast<uint32_t*>(o + head + size_t(row) * kDim + d * 8 + d_col(lane, 0)) =
            packed(out[i][d][2 * half] * share, out[i][d][2 * half + 1] * share);
    }
}

// region launch
extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, int heads, int tokens,
                      int causal, cudaStream_t stream) {
  constexpr int kBytes = (kQueries + 2 * kKeys) * kDim * int(sizeof(__nv_bfloat16));  // 64 KB: two blocks an SM
  if (cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes) != cudaSuccess) return;
  attention<<<dim3((tokens + kQueries - 1) / kQueries, heads), kThreads, kBytes, stream>>>(q, k, v, o, tokens, causal);
}
