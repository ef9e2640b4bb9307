// Probes of methods that the wiki's pages tell in words: each as it is with the method, and with
// ABLATE_… without it. For sm_90a; only their code is looked at.

#include <cstdint>

namespace {

__device__ __forceinline__ void product(float (&d)[4], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b));
}

__device__ __forceinline__ void small_product(float (&d)[4], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b));
}

__device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ void store(float* out, const float (&d)[4]) {
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

}  // namespace

namespace probe_gemm_softmax_interleave {
__global__ void kernel(float* out, std::uint64_t a, std::uint64_t b, int steps) {
  float d[4] = {}, e[4] = {1, 2, 3, 4};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    product(d, a, b);
#ifndef ABLATE_compute_gemm_softmax_interleave
    for (float& x : e) x = exp2f(x);
#endif
    wait();
  }
#ifdef ABLATE_compute_gemm_softmax_interleave
  for (float& x : e) x = exp2f(x);
#endif
  for (int i = 0; i < 4; ++i) d[i] += e[i];
  store(out, d);
}
}  // namespace probe_gemm_softmax_interleave

namespace probe_two_level_accumulation_promotion {
__global__ void kernel(float* out, std::uint64_t a, std::uint64_t b, int steps) {
  float d[4] = {}, sum[4] = {};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    small_product(d, a, b);
#ifndef ABLATE_compute_two_level_accumulation_promotion
    for (int k = 0; k < 4; ++k) {
      sum[k] += d[k];
      d[k] = 0;
    }
#endif
  }
  for (int k = 0; k < 4; ++k) sum[k] += d[k];
  store(out, sum);
}
}  // namespace probe_two_level_accumulation_promotion

namespace probe_fp8_fast_accumulation_mode {
__global__ void kernel(float* out, std::uint64_t a, std::uint64_t b, int steps) {
  float d[4] = {}, sum[4] = {};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    small_product(d, a, b);
#ifdef ABLATE_compute_fp8_fast_accumulation_mode
    for (int k = 0; k < 4; ++k) {
      sum[k] += d[k];
      d[k] = 0;
    }
#endif
  }
  for (int k = 0; k < 4; ++k) sum[k] += d[k];
  store(out, sum);
}
}  // namespace probe_fp8_fast_accumulation_mode

namespace probe_pingpong_warpgroup_schedule {
__global__ void kernel(float* out, std::uint64_t a, std::uint64_t b, int steps) {
  float d[4] = {};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#ifndef ABLATE_latency_pingpong_warpgroup_schedule
    asm volatile("bar.sync %0, 256;" ::"r"(1 + threadIdx.x / 128) : "memory");
#endif
    product(d, a, b);
    wait();
#ifndef ABLATE_latency_pingpong_warpgroup_schedule
    asm volatile("bar.arrive %0, 256;" ::"r"(2 - threadIdx.x / 128) : "memory");
#endif
  }
  store(out, d);
}
}  // namespace probe_pingpong_warpgroup_schedule
