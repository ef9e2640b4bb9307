// ---
// id: code-gemv-w4a16
// title: "Matrix-vector product with 4-bit weights (W4A16), one warp a row: complete code"
// kind: code
// tags: [memory, bandwidth, warp, numerics]
// architectures: [sm80, sm86, sm89, sm90, sm100, sm120]
// languages: [cuda-cpp]
// aliases: [int4 GEMV code, W4A16 code, int4 decode code, dequantization code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_80, sm_90a, sm_120a]
// related: [kernel-gemv-w4a16]
// cures:
//   pattern-uncoalesced-loads: kernel
//   pattern-dram-bound-latency: kernel
//   method-lop3-bit-manipulation: kernel
//   method-vectorized-access: kernel
// sources:
//   - {id: ratchet-code, title: "written for this wiki, checked and timed through ratchet on an NVIDIA H200; its packing is tested on the host", publisher: "ratchet"}
// task:
//   dims: {N: 14336, K: 4096}
//   cases: [{N: 14336, K: 4096}, {N: 4096, K: 14336}, {N: 1001, K: 384}]
//   where: ["K % 128 == 0"]
//   tensors:
//     - {name: w, dtype: uint32, shape: [N, "K / 8"], role: in, init: given}
//     - {name: scales, dtype: float16, shape: [N, "K / 128"], role: in, init: "uniform(0.01,0.02)"}
//     - {name: x, dtype: float16, shape: [K], role: in, init: "uniform(-1,1)"}
//     - {name: y, dtype: float16, shape: [N], role: out}
//   work: {bytes: "N * K / 2 + 2 * N * K / 128 + 2 * K + 2 * N", flops: "2 * N * K", type: float16}
//   tolerance: {atol: 0.02, rtol: 0.01}
//   steps: 1
//   library: "torch.mv on weights in fp16 (cuBLAS), which reads four times the bytes"
// measured:
//   - {step: v0, ms: 0.0203, times_v0: 1, of_library: 1.5, registers: 42, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// y[n] = sum over k of (w[n][k] - 8) * scale[n][k / 128] * x[k]; x, y and scales fp16, K a multiple of 128.
// A word holds eight weights in the order that `element_of` states, so that pairs come out side by side.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: order of the weights in a word; plain C++, tested on the host
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kGroup = 128, kThreads = 128, kWarps = kThreads / 32, kLaneWeights = 32;
/// Element (0..7) of nibble i (0 is the lowest): nibbles p and p + 4 hold the elements 2p and 2p + 1.
__host__ __device__ constexpr int element_of(int nibble) { return (nibble & 3) * 2 + (nibble >> 2); }
/// Elements 2p and 2p + 1 of a word as two halves 1024 + w: 0x6400 is 1024, whose unit in the last place is 1.
__host__ __device__ constexpr uint32_t pair_bits(uint32_t word, int p) { return (word >> (4 * p) & 0x000f000fu) | 0x64006400u; }

// region kernel
/// Sum of eight products, as two halves. |x| must stay below 65504 / (8 * 4) = 2047, or sums overflow.
__device__ inline __half2 eight(uint32_t word, const uint4& x) {
  const __half2 offset = __float2half2_rn(1032.f);  // 1024 + 8
  const uint32_t xs[4] = {x.x, x.y, x.z, x.w};
  __half2 sum = __float2half2_rn(0.f);
  #pragma unroll
  for (int p = 0; p < 4; ++p) {
    const uint32_t bits = pair_bits(word, p);
    sum = __hfma2(__hsub2(*reinterpret_cast<const __half2*>(&bits), offset), *reinterpret_cast<const __half2*>(xs + p), sum);
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads) gemv(const uint32_t* __restrict__ w, const __half* __restrict__ scales,
                                                 const __half* __restrict__ x, __half* __restrict__ y, int N, int K) {
  const int lane = threadIdx.x & 31, n = blockIdx.x * kWarps + (threadIdx.x >> 5);
  if (n >= N) return;  // whole warps
  const uint4* row = reinterpret_cast<const uint4*>(w + size_t(n) * (K / 8));
  const uint4* xs = reinterpret_cast<const uint4*>(x);
  const __half* row_scales = scales + size_t(n) * (K / kGroup);
  float sum = 0.f;
  #pragma unroll 2
  for (int k = lane * kLaneWeights; k < K; k += 32 * kLaneWeights) {  // 16 bytes of weights a lane: 512 a warp
    const uint4 words = __ldcs(row + k / kLaneWeights);               // read once: do not keep in the cache
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
    float part = 0.f;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 two = __half22float2(eight(word[i], __ldg(xs + k / 8 + i)));
      part += two.x + two.y;
    }
    sum = fmaf(part, __half2float(row_scales[k / kGroup]), sum);
  }
  #pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) y[n] = __float2half(sum);
}

// region launch
extern "C" void solve(const uint32_t* w, const __half* scales, const __half* x, __half* y, int N, int K, cudaStream_t stream) {
  if (N < 1 || K % kGroup != 0) return;
  gemv<<<(N + kWarps - 1) / kWarps, kThreads, 0, stream>>>(w, scales, x, y, N, K);
}
