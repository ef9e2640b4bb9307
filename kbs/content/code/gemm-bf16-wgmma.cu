// ---
// id: code-gemm-bf16-wgmma
// title: "bf16 matrix product with TMA and wgmma on Hopper: complete code, run on an H200"
// kind: code
// tags: [gemm, tensor-cores, tma, pipelining, synchronization]
// architectures: [sm90]
// languages: [cuda-cpp]
// aliases: [wgmma GEMM code, Hopper GEMM code, TMA GEMM code, wgmma descriptor code]
// confidence: verified
// code_evidence: measured
// compiled: [sm_90a]
// related: [kernel-gemm-bf16-wgmma]
// cures:
//   pattern-fma-without-tensor: descriptors and products
//   pattern-tensor-pipe-underfed: kernel
//   pattern-barrier-stalls: barriers
//   pattern-tma-bound: tensor maps and launch
//   method-tensor-core: descriptors and products
//   method-warp-specialization: kernel
//   method-producer-regdealloc-setmaxnreg: kernel
//   method-asymmetric-mbarrier-sync: barriers
//   method-tile-scheduler-swizzle: tile order and store
// sources:
//   - {id: example-gemm, title: "examples/gemm_bf16 of this project: v2 of a run on one H200 (driver 580.159.04, CUDA 13.0.88), 4096^3, commit 01efc44", publisher: "ratchet"}
// task:
//   dims: {m: 8192, n: 8192, k: 8192}
//   cases: [{m: 8192, n: 8192, k: 8192}, {m: 4096, n: 4096, k: 4096}, {m: 1009, n: 776, k: 1032}]
//   tensors:
//     - {name: a, dtype: bfloat16, shape: [m, k], role: in}
//     - {name: b, dtype: bfloat16, shape: [k, n], role: in}
//     - {name: c, dtype: bfloat16, shape: [m, n], role: out}
//   work: {bytes: "2 * (m * k + k * n + m * n)", flops: "2 * m * n * k", type: bfloat16}
//   steps: 1
//   library: "torch.matmul (cuBLAS)"
// measured:
//   - {step: v0, ms: 26.95, times_v0: 1, device: "NVIDIA H200", date: 2026-11-22}
//   - {step: v1, ms: 0.5343, times_v0: 50.4, device: "NVIDIA H200", date: 2026-11-22}
//   - {step: v2, ms: 0.1958, times_v0: 137, device: "NVIDIA H200", date: 2026-11-22}
// ---

// Hopper's warp group products: blocks of 128 x 256, tiles of 64 along k. One producer thread has the
// tensor memory accelerator fill four stages of shared memory; two warp groups of 64 rows each
// multiply from there. Sizes whose rows are no multiples of 16 bytes take one thread an element.
//
// ABLATE_latency_tile_scheduler_swizzle takes the tiles row by row.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace {

using Number = __nv_bfloat16;

constexpr int kM = 128, kN = 256, kK = 64;  // of a block
constexpr int kStages = 4;
constexpr int kThreads = 384;               // two multiplying warp groups, one that loads
constexpr int kAtom = 64;                   // numbers in the 128 bytes of a swizzled row
constexpr int kLeftBytes = kM * kK * 2, kRightBytes = kK * kN * 2;
constexpr int kAtomBytes = kK * kAtom * 2;  // one box of the right matrix
constexpr int kSharedBytes = kStages * (kLeftBytes + kRightBytes) + 1024;  // room to align

// region barriers
__device__ void prepare(uint64_t* barrier, int arrivals) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(at), "r"(arrivals));
}

__device__ void arrive(uint64_t* barrier) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(at) : "memory");
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
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(at), "r"(phase)
        : "memory");
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

// region descriptors and products
/// Where an operand stands in shared memory, in rows of 128 swizzled bytes: eight rows are 1024 bytes;
/// `stride` leads from one column of such rows to the next (used by the right matrix alone).
__device__ uint64_t operand(uint32_t at, uint32_t stride) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62, kEightRows = uint64_t{1024 / 16} << 32;
  return (at & 0x3FFFF) / 16 | static_cast<uint64_t>(stride / 16) << 16 | kEightRows | kSwizzle128;
}

/// 64 x 16 times 16 x 128; the right matrix has its rows along n.
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      " %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      " %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      " %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
      " %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 1;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
        "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
        "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b));
}

// region tile order and store
/// The tile of a block: groups of eight rows of tiles, column by column, share both matrices in the cache.
__device__ int2 tile_of(int block, int rows, int columns) {
#ifndef ABLATE_latency_tile_scheduler_swizzle
  constexpr int kGroup = 8;
  const int first = block / (kGroup * columns) * kGroup;
  const int high = min(kGroup, rows - first);
  const int within = block % (kGroup * columns);
  return make_int2(first + within % high, within / high);
#else
  return make_int2(block / columns, block % columns);
#endif
}

__device__ void store(Number* c, const float (&sums)[64], int m, int n, int row, int column) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + 16 * warp + 8 * half + lane / 4, s = column + 8 * j + lane % 4 * 2;
      if (r < m && s < n)
        *reinterpret_cast<__nv_bfloat162*>(c + static_cast<int64_t>(r) * n + s) =
            __floats2bfloat162_rn(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
    }
}

// region kernel
__global__ void __launch_bounds__(kThreads, 1)
    product(const __grid_constant__ CUtensorMap left_map, const __grid_constant__ CUtensorMap right_map,
            Number* c, int m, int n, int k) {
  extern __shared__ unsigned char shared[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const auto begin = (static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + 1023) / 1024 * 1024;
  const uint32_t left = begin, right = begin + kStages * kLeftBytes;
  const int2 tile = tile_of(blockIdx.x, (m + kM - 1) / kM, (n + kN - 1) / kN);
  const int row = tile.x * kM, column = tile.y * kN;
  const int tiles = (k + kK - 1) / kK;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      prepare(&full[s], 1);
      prepare(&empty[s], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  __syncthreads();

  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\n");
    if (threadIdx.x != 256) return;
    for (int t = 0; t < tiles; ++t) {
      const int s = t % kStages;
      if (t >= kStages) wait(&empty[s], (t / kStages - 1) % 2);
      arrive_and_expect(&full[s], kLeftBytes + kRightBytes);
      fetch_box(left + s * kLeftBytes, &left_map, &full[s], t * kK, row);
      for (int i = 0; i < kN / kAtom; ++i)
        fetch_box(right + s * kRightBytes + i * kAtomBytes, &right_map, &full[s], column + i * kAtom,
                  t * kK);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n");
  float low[64] = {}, high[64] = {};
  for (int t = 0; t < tiles; ++t) {
    const int s = t % kStages;
    wait(&full[s], t / kStages % 2);
    const uint32_t a = left + s * kLeftBytes + group * 64 * kK * 2;
    const uint32_t b = right + s * kRightBytes;
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
    for (int l = 0; l < kK / 16; ++l) {
      const uint64_t mine = operand(a + l * 32, 16);
      const uint32_t rows = l * 16 * 128;
      multiply(low, mine, operand(b + rows, kAtomBytes));
      multiply(high, mine, operand(b + rows + 2 * kAtomBytes, kAtomBytes));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
    // The products of the tile before are done when only this one's are pending.
    asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    if (t > 0 && threadIdx.x % 128 == 0) arrive(&empty[(t - 1) % kStages]);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  store(c, low, m, n, row + 64 * group, column);
  store(c, high, m, n, row + 64 * group, column + 128);
}

// region any size
__global__ void product_any(const Number* a, const Number* b, Number* c, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l)
    sum += __bfloat162float(a[static_cast<int64_t>(row) * k + l]) *
           __bfloat162float(b[static_cast<int64_t>(l) * n + column]);
  c[static_cast<int64_t>(row) * n + column] = __float2bfloat16(sum);
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

bool describe(Encode encode, CUtensorMap& map, const Number* matrix, int rows, int columns, int box_rows) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[] = {kAtom, static_cast<cuuint32_t>(box_rows)}, steps[] = {1, 1};
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<Number*>(matrix), sizes, pitch, box,
                steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                      int k) {
  static const Encode encode = encoder();
  const auto places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                      reinterpret_cast<uintptr_t>(c);
  CUtensorMap left, right;
  const bool fits = encode && places % 16 == 0 && n % 8 == 0 && k % 8 == 0 &&
                    describe(encode, left, a, m, k, kM) && describe(encode, right, b, k, n, kK);
  if (!fits) {
    product_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
    return;
  }
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  product<<<((n + kN - 1) / kN) * ((m + kM - 1) / kM), kThreads, kSharedBytes>>>(left, right, c, m, n, k);
}
