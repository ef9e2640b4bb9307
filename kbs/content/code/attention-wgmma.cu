// ---
// id: code-attention-wgmma
// title: "Attention forward with TMA and wgmma on Hopper, softmax beside the products: complete code"
// kind: code
// tags: [attention, tensor-cores, tma, softmax, pipelining]
// architectures: [sm90]
// languages: [cuda-cpp]
// aliases: [FlashAttention-3 code, Hopper attention code, wgmma attention code, flash attention H100 code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_90a]
// related: [kernel-attention-wgmma]
// cures:
//   method-intra-wg-gemm-softmax-pipeline: kernel
//   method-gemm-softmax-interleave: kernel
//   method-warp-specialization: kernel
//   method-online-recomputation: softmax
//   pattern-special-function-bound: kernel
//   pattern-tensor-pipe-underfed: kernel
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0; its index arithmetic is tested on the host", publisher: "ratchet"}
//   - {id: flash-attention-3, title: "Shah et al., FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision, arXiv 2407.08608", publisher: "arXiv", url: "https://arxiv.org/abs/2407.08608", date: 2024-07}
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
//   steps: 3
//   library: "torch scaled_dot_product_attention"
// measured:
//   - {step: v0, ms: 1.08, times_v0: 1, of_library: 0.768, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v1, ms: 0.904, times_v0: 1.2, of_library: 0.909, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v2, ms: 0.831, times_v0: 1.3, of_library: 0.987, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// o = softmax(q k^T / sqrt(128)) v for each head; q, k, v, o are [heads][tokens][128], bf16, sums in fp32. With
// `causal` a token sees itself and those before it. A block takes 128 queries at a time: one thread fetches tiles of 128
// keys and values, two warp groups of 64 queries each multiply. A group issues the scores of the next tile before the
// values of this one, and softens the scores while the values, and the other group's products, are multiplied.
// STEP is a rung of the ladder: 0 exponentials by exp2f, a block for each 128 queries; 1 by ex2.approx.ftz, a row's sums in
// two chains; 2 groups issue products in turns; blocks are resident, their next tiles arrive while outputs are stored.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: where everything lies; plain C++, tested on the host
#ifndef STEP
#define STEP 2
#endif
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kDim = 128, kQueries = 128, kKeys = 128, kStages = 2;
constexpr int kThreads = 384;                                       // two multiplying warp groups, one that loads
constexpr int kAtomBytes = 128 * 128, kTileBytes = 2 * kAtomBytes;  // an atom: 128 swizzled rows of 64 numbers
constexpr int kSharedBytes = (1 + 2 * kStages) * kTileBytes + 1024;  // room to align
constexpr float kScale = 1.4426950408889634f / 11.313708498984761f;  // 1 / sqrt(128), for exponentials of base 2
/// Row and column of sum i of a thread of a warp group, in its 64 x 128.
__host__ __device__ constexpr int sum_row(int t, int i) { return t / 32 * 16 + i / 2 % 2 * 8 + t % 32 / 4; }
__host__ __device__ constexpr int sum_column(int t, int i) { return i / 4 * 8 + t % 4 * 2 + i % 2; }
/// The two sums whose bf16 are register r of the left operand of step j (16 keys): this one and the next.
__host__ __device__ constexpr int left_sum(int j, int r) { return 8 * j + 2 * r; }
/// Byte of step d (16 dimensions) of rows of queries or keys.
__host__ __device__ constexpr int step_bytes(int d) { return d / 4 * kAtomBytes + d % 4 * 32; }
/// Tiles of keys that the queries from `first` on can see.
__host__ __device__ constexpr int key_tiles(int first, int tokens, int causal) {
  const int seen = causal && first + kQueries < tokens ? first + kQueries : tokens;
  return (seen + kKeys - 1) / kKeys;
}

// region barriers
namespace {
__device__ uint32_t address(const void* shared) { return static_cast<uint32_t>(__cvta_generic_to_shared(shared)); }
__device__ void prepare(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(address(barrier)), "r"(arrivals));
}
__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(address(barrier)) : "memory");
}
__device__ void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(address(barrier)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t* barrier, uint32_t phase) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done) : "r"(address(barrier)), "r"(phase) : "memory");
}
/// The groups issue their products in turns, so that one softens scores while the other multiplies: barrier 1 + g is
/// passed when group g waits there and the other has arrived.
__device__ void take_turn(int group) { if (STEP >= 2) asm volatile("bar.sync %0, 256;\n" ::"r"(1 + group) : "memory"); }
__device__ void give_turn(int group) { if (STEP >= 2) asm volatile("bar.arrive %0, 256;\n" ::"r"(2 - group) : "memory"); }

// region copies
/// 128 tokens of a head as two boxes of 64 dimensions; tokens beyond the head's last are zero.
__device__ void fetch_tile(uint32_t to, const CUtensorMap* map, uint64_t* barrier, int token, int head) {
  arrive_and_expect(barrier, kTileBytes);
  for (int half = 0; half < 2; ++half)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];\n"
        ::"r"(to + half * kAtomBytes), "l"(map), "r"(address(barrier)), "r"(half * 64), "r"(token), "r"(head) : "memory");
}

// region products
/// Where an operand stands in shared memory, in rows of 128 swizzled bytes: eight rows are 1024 bytes; values, whose
/// rows run along the dimensions, go on kAtomBytes further.
__device__ uint64_t operand(uint32_t at) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62, kEightRows = uint64_t{1024 / 16} << 32;
  return (at & 0x3FFFF) / 16 | uint64_t{kAtomBytes / 16} << 16 | kEightRows | kSwizzle128;
}

#define SUMS_8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS SUMS_8(0), SUMS_8(8), SUMS_8(16), SUMS_8(24), SUMS_8(32), SUMS_8(40), SUMS_8(48), SUMS_8(56)
#define PRODUCT_ONTO_SUMS \
  "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
  "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
  "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
/// Queries times keys, both with their rows along the dimensions: 64 x 16 times 16 x 128.
__device__ void multiply_keys(float (&d)[64], uint64_t a, uint64_t b, int onto) {
  asm volatile("{\n.reg .pred onto;\nsetp.ne.b32 onto, %66, 0;\n" PRODUCT_ONTO_SUMS ", %64, %65, onto, 1, 1, 0, 0;\n}\n"
               : SUMS : "l"(a), "l"(b), "r"(onto));
}
/// Exponentials, from registers, times values, onto the sums.
__device__ void multiply_values(float (&d)[64], const uint32_t (&p)[32], int step, uint64_t b) {
  asm volatile(PRODUCT_ONTO_SUMS ", {%64, %65, %66, %67}, %68, 1, 1, 1, 1;\n" : SUMS
               : "r"(p[4 * step]), "r"(p[4 * step + 1]), "r"(p[4 * step + 2]), "r"(p[4 * step + 3]), "l"(b));
}
__device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
/// Waits until at most kOpen groups of products are open; then d may be read.
template <int kOpen> __device__ void wait_products(float (&d)[64]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kOpen) : "memory");
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// region softmax
/// exp2f without -use_fast_math also scales denormal results: two multiplications and a comparison more. Here they are zero.
__device__ float power2(float x) {
  if (STEP == 0) return exp2f(x);
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
  return y;
}
/// Scores become exponentials; `shrink` is what sums and outputs so far must be multiplied by.
__device__ void soften(float (&s)[64], float (&top)[2], float (&sum)[2], float (&shrink)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {  // the two rows of a thread
    float largest = top[half];
#pragma unroll
    for (int i = 2 * half; i < 64; i += 4) largest = fmaxf(largest, fmaxf(s[i], s[i + 1]));
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));  // four lanes share a row
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
    const float base = largest == -INFINITY ? 0.f : largest * kScale;  // (-inf) - (-inf) is no number
    shrink[half] = power2(top[half] * kScale - base);
    top[half] = largest;
    float part[2] = {};
#pragma unroll
    for (int i = 2 * half; i < 64; i += 4) {
      s[i] = power2(fmaf(s[i], kScale, -base));
      s[i + 1] = power2(fmaf(s[i + 1], kScale, -base));
      if (STEP >= 1) part[0] += s[i], part[1] += s[i + 1];
      else part[0] += s[i] + s[i + 1];
    }
    sum[half] = fmaf(sum[half], shrink[half], part[0] + part[1]);
  }
}
__device__ uint32_t packed(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&two);
}

// region kernel
__global__ void __launch_bounds__(kThreads, 1)
    attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map, __nv_bfloat16* __restrict__ o, int heads, int tokens, int causal) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t queries_full, queries_empty, keys_full[kStages], values_full[kStages], keys_empty[kStages], values_empty[kStages];
  const uint32_t queries = (address(shared) + 1023) / 1024 * 1024, keys = queries + kTileBytes, values = keys + kStages * kTileBytes;
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), parts = (tokens + kQueries - 1) / kQueries, items = parts * heads;
  if (threadIdx.x == 0) {
    prepare(&queries_full, 1), prepare(&queries_empty, 2);
    for (int s = 0; s < kStages; ++s) {
      prepare(&keys_full[s], 1), prepare(&values_full[s], 1);
      prepare(&keys_empty[s], 2), prepare(&values_empty[s], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  __syncthreads();

  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\n");
    if (threadIdx.x == 256) {
      for (int item = blockIdx.x, base = 0, done = 0; item < items; item += gridDim.x, ++done) {
        const int first = (parts - 1 - item % parts) * kQueries, head = item / parts, count = key_tiles(first, tokens, causal);
        if (done) wait(&queries_empty, (done - 1) % 2);
        fetch_tile(queries, &q_map, &queries_full, first, head);
        const auto fetch = [&](int n, int token, uint32_t to, const CUtensorMap* map, uint64_t* full, uint64_t* empty) {
          const int s = n % kStages;
          if (n >= kStages) wait(&empty[s], (n / kStages - 1) % 2);
          fetch_tile(to + s * kTileBytes, map, &full[s], token, head);
        };
        for (int tile = 0; tile <= count; ++tile) {  // keys, then the values of the tile before
          if (tile < count) fetch(base + tile, tile * kKeys, keys, &k_map, keys_full, keys_empty);
          if (tile > 0) fetch(base + tile - 1, (tile - 1) * kKeys, values, &v_map, values_full, values_empty);
        }
        base += count;
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n");
    const int thread = threadIdx.x % 128;
    float s[64], out[64], top[2], sum[2], shrink[2];
    uint32_t p[32];
    const auto score = [&](int n) {
      const uint32_t q = queries + group * 64 * 128, k = keys + n % kStages * kTileBytes;
      wait(&keys_full[n % kStages], n / kStages % 2);
      take_turn(group);
      begin_products();
#pragma unroll
      for (int d = 0; d < kDim / 16; ++d) multiply_keys(s, operand(q + step_bytes(d)), operand(k + step_bytes(d)), d > 0);
      commit_products();
    };
    const auto weigh = [&](int n) {
      const uint32_t v = values + n % kStages * kTileBytes;
      wait(&values_full[n % kStages], n / kStages % 2);
      begin_products();
#pragma unroll
      for (int j = 0; j < kKeys / 16; ++j) multiply_values(out, p, j, operand(v + j * 16 * 128));
      commit_products();
    };
    const auto pack = [&] {
#pragma unroll
      for (int r = 0; r < 32; ++r) p[r] = packed(s[left_sum(r / 4, r % 4)], s[left_sum(r / 4, r % 4) + 1]);
    };
    if (group == 1) give_turn(group);  // the first is that of group 0
    for (int item = blockIdx.x, base = 0, done = 0; item < items; item += gridDim.x, ++done) {
      const int first = (parts - 1 - item % parts) * kQueries, head = item / parts, count = key_tiles(first, tokens, causal);
      const int row = first + group * 64 + sum_row(thread, 0);  // and row + 8
      const bool is_last = item + gridDim.x >= items;  // after its last tile nobody takes a turn
      const auto mask_and_soften = [&](int tile) {
        const int seen = tokens - tile * kKeys, own = causal ? row + 1 - tile * kKeys : seen;
        if (seen < kKeys || own < kKeys) {
#pragma unroll
          for (int i = 0; i < 64; ++i)
            if (sum_column(thread, i) >= min(seen, causal ? own + i / 2 % 2 * 8 : seen)) s[i] = -INFINITY;
        }
        soften(s, top, sum, shrink);
      };
#pragma unroll
      for (int i = 0; i < 64; ++i) out[i] = 0;
      top[0] = top[1] = -INFINITY, sum[0] = sum[1] = 0;
      wait(&queries_full, done % 2);
      score(base);
      if (group == 0 || count > 1 || !is_last) give_turn(group);
      wait_products<0>(s);
      if (thread == 0) arrive(&keys_empty[base % kStages]);
      if (thread == 0 && count == 1) arrive(&queries_empty);
      mask_and_soften(0);
      pack();
      for (int tile = 1; tile < count; ++tile) {
        const int n = base + tile;
        score(n);
        weigh(n - 1);
        if (group == 0 || tile + 1 < count || !is_last) give_turn(group);
        wait_products<1>(s);  // the scores; the values are still being multiplied
        if (thread == 0) arrive(&keys_empty[n % kStages]);
        if (thread == 0 && tile + 1 == count) arrive(&queries_empty);
        mask_and_soften(tile);
        wait_products<0>(out);
        if (thread == 0) arrive(&values_empty[(n - 1) % kStages]);
#pragma unroll
        for (int i = 0; i < 64; ++i) out[i] *= shrink[i / 2 % 2];
        pack();
      }
      weigh(base + count - 1);
      wait_products<0>(out);
      if (thread == 0) arrive(&values_empty[(base + count - 1) % kStages]);
      base += count;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float total = sum[half] + __shfl_xor_sync(~0u, sum[half], 1);
        total += __shfl_xor_sync(~0u, total, 2);
        const float share = 1.f / total;
        const int token = row + 8 * half;
        if (token >= tokens) continue;
#pragma unroll
        for (int i = 2 * half; i < 64; i += 4)
          *reinterpret_cast<uint32_t*>(o + (static_cast<int64_t>(head) * tokens + token) * kDim + sum_column(thread, i)) =
              packed(out[i] * share, out[i + 1] * share);
      }
    }
  }
}

// region tensor maps and launch
using Encode = decltype(&cuTensorMapEncodeTiled);

/// The driver's function, found at run time: nothing is linked against the driver.
Encode encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result);
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
}

/// Heads are a dimension of the map, so that a box never reaches into the next one.
bool describe(Encode encode, CUtensorMap& map, const __nv_bfloat16* all, int heads, int tokens) {
  const cuuint64_t sizes[] = {kDim, static_cast<cuuint64_t>(tokens), static_cast<cuuint64_t>(heads)};
  const cuuint64_t pitch[] = {kDim * 2, static_cast<cuuint64_t>(tokens) * kDim * 2};
  const cuuint32_t box[] = {64, 128, 1}, steps[] = {1, 1, 1};
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<__nv_bfloat16*>(all), sizes, pitch, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}
}  // namespace

extern "C" void solve(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, int heads,
                      int tokens, int causal, cudaStream_t stream) {
  static const Encode encode = encoder();
  CUtensorMap q_map, k_map, v_map;
  if (!encode || !describe(encode, q_map, q, heads, tokens) || !describe(encode, k_map, k, heads, tokens) ||
      !describe(encode, v_map, v, heads, tokens)) return;
  cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int items = (tokens + kQueries - 1) / kQueries * heads, blocks = STEP >= 2 ? min(items, processors) : items;
  attention<<<blocks, kThreads, kSharedBytes, stream>>>(q_map, k_map, v_map, o, heads, tokens, causal);
}
