// ---
// id: code-gemm-fp8-block-scaled
// title: "FP8 matrix product with scales a block (1 x 128 and 128 x 128) on Hopper: complete code"
// kind: code
// tags: [gemm, tensor-cores, tma, numerics]
// architectures: [sm90]
// languages: [cuda-cpp]
// aliases: [fp8 GEMM code, block-scaled GEMM code, e4m3 wgmma code, DeepSeek FP8 code, QGMMA code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_90a]
// related: [kernel-gemm-fp8-block-scaled]
// cures:
//   pattern-tensor-pipe-underfed: kernel
//   pattern-fence-stalls: barriers
//   method-two-level-accumulation-promotion: kernel
//   method-mixed-precision: products
//   method-tma-multicast: copies
//   method-warp-specialization: kernel
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0; its index arithmetic is tested on the host", publisher: "ratchet"}
//   - {id: deepseek-v3, title: "DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3: fine-grained quantization, accumulation promoted every 128", publisher: "arXiv", url: "https://arxiv.org/abs/2412.19437", date: 2024-12}
// task:
//   dims: {m: 4096, n: 7168, k: 4096}
//   cases: [{m: 4096, n: 7168, k: 4096}, {m: 257, n: 776, k: 384}]
//   where: ["n % 8 == 0", "k % 128 == 0"]
//   tensors:
//     - {name: a, dtype: float8_e4m3, shape: [m, k], role: in}
//     - {name: b, dtype: float8_e4m3, shape: [n, k], role: in}
//     - {name: a_scales, dtype: float32, shape: [m, "k / 128"], role: in, init: "uniform(0.5,1.5)"}
//     - {name: b_scales, dtype: float32, shape: ["ceil_div(n, 128)", "k / 128"], role: in, init: "uniform(0.5,1.5)"}
//     - {name: c, dtype: bfloat16, shape: [m, n], role: out}
//   work: {bytes: "m * k + n * k + 2 * m * n", flops: "2 * m * n * k", type: float8_e4m3}
//   steps: 2
//   library: "torch._scaled_mm with one scale a tensor (cuBLAS), without the work for blocks"
// measured:
//   - {step: v0, ms: 0.453, times_v0: 1, of_library: 0.395, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v1, ms: 0.246, times_v0: 1.84, of_library: 0.729, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// c[m][n] = sum over blocks of 128 along k of a_scales[m][block] b_scales[n / 128][block] (a b^T of the block).
// a and b are e4m3 with their rows along k, c is bf16, sums are fp32. n is a multiple of 8, k of 128, m is any.
// The tensor cores sum a block of 128 on their own (with fewer than fp32's bits); scaled, it is added in fp32.
//
// STEP is a rung of the ladder: 0 barriers that order the memory of the whole cluster; 1 barriers that order the
// block's alone, and two products of 64 rows a warp group and step, 256 rows a block.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
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
constexpr int kCluster = 2;                   // blocks side by side along m, which share the tile of b
constexpr int kProducts = STEP >= 1 ? 2 : 1;  // of 64 rows, a warp group and step
constexpr int kM = 128 * kProducts, kN = 128, kK = 128;  // of a block; a row of a tile is 128 bytes
constexpr int kStages = STEP >= 1 ? 4 : 6;
constexpr int kThreads = 384;                 // two multiplying warp groups, one that loads
constexpr int kLeftBytes = kM * kK, kRightBytes = kN * kK;
constexpr int kSharedBytes = kStages * (kLeftBytes + kRightBytes) + 1024;  // room to align
/// Row and column of sum i of a thread of a warp group, in its 64 x 128.
__host__ __device__ constexpr int sum_row(int t, int i) { return t / 32 * 16 + i / 2 % 2 * 8 + t % 32 / 4; }
__host__ __device__ constexpr int sum_column(int t, int i) { return i / 4 * 8 + t % 4 * 2 + i % 2; }
/// Row and column of a tile: groups of eight rows of tiles, column by column, share both matrices in the cache.
__host__ __device__ constexpr void tile_of(int number, int rows, int columns, int& row, int& column) {
  constexpr int kGroup = 8;
  const int first = number / (kGroup * columns) * kGroup, within = number % (kGroup * columns);
  const int high = rows - first < kGroup ? rows - first : kGroup;
  row = first + within % high;
  column = within / high;
}

// region barriers
namespace {

__device__ void prepare(uint64_t* barrier, int arrivals) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(at), "r"(arrivals));
}

// A barrier that names no scope orders the memory of its own block. Stages of operands need no more: the copies
// complete on the barrier itself, and the products that read a stage are over before the arrival. With the cluster's
// scope each arrival is a fence of the whole device (MEMBAR.ALL.GPU), and each wait drops the L1 cache (CCTL.IVALL).
#if STEP == 0
#define RELEASE ".release.cluster"
#define ACQUIRE ".acquire.cluster"
#else
#define RELEASE
#define ACQUIRE
#endif

/// Arrives at the barrier of the same place in a block of the cluster.
__device__ void arrive(uint64_t* barrier, uint32_t block) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive" RELEASE ".shared::cluster.b64 _, [there];\n}\n" ::"r"(at),
      "r"(block)
      : "memory");
}

__device__ void arrive_and_expect(uint64_t* barrier, int bytes) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(at), "r"(bytes)
               : "memory");
}

__device__ void wait(uint64_t* barrier, uint32_t phase) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity" ACQUIRE ".shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(at), "r"(phase)
        : "memory");
}

__device__ uint32_t block_of_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
}

__device__ void join_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}

// region copies
/// A box whose first number is at (x, y), x along the rows; outside of the matrix it is zero.
__device__ void fetch_box(uint32_t to, const CUtensorMap* map, uint64_t* barrier, int x, int y) {
  const auto full = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];\n" ::"r"(to),
      "l"(map), "r"(full), "r"(x), "r"(y)
      : "memory");
}

/// The same, to this place and this barrier of all blocks of the cluster.
__device__ void fetch_box_for_all(uint32_t to, const CUtensorMap* map, uint64_t* barrier, int x, int y) {
  const auto full = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4}], [%2], %5;\n" ::"r"(to),
      "l"(map), "r"(full), "r"(x), "r"(y), "h"(static_cast<uint16_t>((1 << kCluster) - 1))
      : "memory");
}

// region products
/// Where an operand stands in shared memory: rows of 128 swizzled bytes along k, eight rows are 1024 bytes.
__device__ uint64_t operand(uint32_t at) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62, kEightRows = uint64_t{1024 / 16} << 32;
  return (at & 0x3FFFF) / 16 | uint64_t{1} << 16 | kEightRows | kSwizzle128;
}

#define SUMS_8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)
/// 64 x 32 times 32 x 128 of e4m3, onto the sums or in their place. 8-bit operands have their rows along k.
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int onto) {
  asm volatile(
      "{\n.reg .pred onto;\nsetp.ne.b32 onto, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
      "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63 "
      "}, %64, %65, onto, 1, 1;\n}\n"
      : SUMS_32(0), SUMS_32(32)
      : "l"(a), "l"(b), "r"(onto));
}

// region kernel
__global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(kThreads, 1)
    product(const __grid_constant__ CUtensorMap left_map, const __grid_constant__ CUtensorMap right_map,
            const float* __restrict__ a_scales, const float* __restrict__ b_scales, __nv_bfloat16* __restrict__ c,
            int m, int n, int k) {
  extern __shared__ unsigned char shared[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const auto begin = (static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + 1023) / 1024 * 1024;
  const uint32_t left = begin, right = begin + kStages * kLeftBytes;
  const int rank = static_cast<int>(block_of_cluster());
  const int rows = (m + kCluster * kM - 1) / (kCluster * kM), columns = (n + kN - 1) / kN;
  const int clusters = gridDim.x / kCluster, steps = k / kK;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      prepare(&full[s], 1);
      prepare(&empty[s], 2 * kCluster);  // every group of the cluster that reads what both fetched
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  __syncthreads();
  join_cluster();

  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\n");
    if (threadIdx.x == 256) {
      int count = 0;  // steps over all tiles: stage and phase go on from tile to tile
      for (int number = blockIdx.x / kCluster; number < rows * columns; number += clusters) {
        int row, column;
        tile_of(number, rows, columns, row, column);
        for (int t = 0; t < steps; ++t, ++count) {
          const int s = count % kStages;
          if (count >= kStages) wait(&empty[s], (count / kStages - 1) % 2);
          arrive_and_expect(&full[s], kLeftBytes + kRightBytes);
          fetch_box(left + s * kLeftBytes, &left_map, &full[s], t * kK, (row * kCluster + rank) * kM);
          // Each block of the cluster fetches its half of the tile of b for both.
          fetch_box_for_all(right + s * kRightBytes + rank * (kRightBytes / kCluster), &right_map, &full[s], t * kK,
                            column * kN + rank * (kN / kCluster));
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n");
    const int thread = threadIdx.x % 128;
    int count = 0;
    for (int number = blockIdx.x / kCluster; number < rows * columns; number += clusters) {
      int row, column;
      tile_of(number, rows, columns, row, column);
      row = (row * kCluster + rank) * kM + 64 * kProducts * group;
      const float* scales_of[kProducts][2];  // of the two rows of a thread
#pragma unroll
      for (int u = 0; u < 2 * kProducts; ++u) {
        const int one = row + 64 * (u / 2) + sum_row(thread, 0) + u % 2 * 8;
        scales_of[u / 2][u % 2] = a_scales + static_cast<int64_t>(min(one, m - 1)) * steps;
      }
      const float* column_scales = b_scales + static_cast<int64_t>(column) * steps;
      float sums[kProducts][64] = {}, part[64];
      float scale[kProducts][2], next[kProducts][2], b_next;
      const auto load_scales = [&](int t) {
        b_next = __ldg(column_scales + t);
#pragma unroll
        for (int u = 0; u < 2 * kProducts; ++u) next[u / 2][u % 2] = __ldg(scales_of[u / 2][u % 2] + t);
      };
      load_scales(0);
      for (int t = 0; t < steps; ++t, ++count) {
        const int s = count % kStages;
#pragma unroll
        for (int u = 0; u < 2 * kProducts; ++u) scale[u / 2][u % 2] = next[u / 2][u % 2] * b_next;
        wait(&full[s], count / kStages % 2);
        if (t + 1 < steps) load_scales(t + 1);
#pragma unroll
        for (int u = 0; u < kProducts; ++u) {
          const uint32_t a = left + s * kLeftBytes + (group * kProducts + u) * 64 * kK, b = right + s * kRightBytes;
          asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
          for (int l = 0; l < kK / 32; ++l) multiply(part, operand(a + l * 32), operand(b + l * 32), l > 0);
          asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
          for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(part[i])::"memory");  // none is read before the wait
          if (u == kProducts - 1 && thread < kCluster) arrive(&empty[s], thread);
#pragma unroll
          for (int i = 0; i < 64; ++i) sums[u][i] = fmaf(part[i], scale[u][i / 2 % 2], sums[u][i]);
        }
      }
#pragma unroll
      for (int u = 0; u < kProducts; ++u)
#pragma unroll
        for (int i = 0; i < 64; i += 2) {
          const int r = row + 64 * u + sum_row(thread, i), q = column * kN + sum_column(thread, i);
          if (r < m && q < n)
            *reinterpret_cast<__nv_bfloat162*>(c + static_cast<int64_t>(r) * n + q) = __floats2bfloat162_rn(sums[u][i], sums[u][i + 1]);
        }
    }
  }
  join_cluster();  // no block leaves while the other may still write to it
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

bool describe(Encode encode, CUtensorMap& map, const void* matrix, int rows, int columns, int box_rows) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(columns)};
  const cuuint32_t box[] = {kK, static_cast<cuuint32_t>(box_rows)}, steps[] = {1, 1};
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<void*>(matrix), sizes, pitch, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

extern "C" void solve(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_scales,
                      const float* b_scales, __nv_bfloat16* c, int m, int n, int k, cudaStream_t stream) {
  static const Encode encode = encoder();
  CUtensorMap left, right;
  if (!encode || n % 8 != 0 || k % kK != 0 || !describe(encode, left, a, m, k, kM) ||
      !describe(encode, right, b, n, k, kN / kCluster))
    return;
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int tiles = ((m + kCluster * kM - 1) / (kCluster * kM)) * ((n + kN - 1) / kN);
  const int clusters = tiles < processors / kCluster ? tiles : processors / kCluster;
  product<<<clusters * kCluster, kThreads, kSharedBytes, stream>>>(left, right, a_scales, b_scales, c, m, n, k);
}
