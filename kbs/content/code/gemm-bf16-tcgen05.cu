// ---
// id: code-gemm-bf16-tcgen05
// title: "bf16 matrix product with TMA, tcgen05 and tensor memory on Blackwell: complete code, compiled, not run"
// kind: code
// tags: [gemm, tensor-cores, tma, pipelining, synchronization]
// architectures: [sm100]
// languages: [cuda-cpp]
// aliases: [tcgen05 GEMM code, Blackwell GEMM code, tensor memory code, UMMA code, TMEM code, B200 GEMM code]
// confidence: experimental
// code_evidence: compiled
// compiled: [sm_100a]
// related: [kernel-gemm-bf16-tcgen05]
// cures:
//   pattern-fma-without-tensor: descriptors and products
//   pattern-tensor-pipe-underfed: kernel
//   method-tensor-core: descriptors and products
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0, not run; descriptors and tile order are tested on the host", publisher: "ratchet"}
//   - {id: ptx-isa, title: "Parallel Thread Execution ISA 9.0, tensor core 5th generation: instruction descriptor, shared memory descriptor, tcgen05.mma, .commit, .ld", publisher: "NVIDIA", url: "https://docs.nvidia.com/cuda/parallel-thread-execution/", section: "TensorCore 5th Generation Family Instructions", version: "9.0", date: 2026-11-25}
// ---

// C[M][N] = A[M][K] B[N][K]^T, all bf16, row-major, sums in fp32 in tensor memory. N and K are multiples of 8, M is any.
// A block of four warps has a tile of 128 x 256: one thread of warp 0 has the tensor memory accelerator fill four stages
// of shared memory, one thread of warp 1 issues the products, and all four warps bring the sums out, a row a thread.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: sizes, descriptors and tile order; plain C++, tested on the host
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kM = 128, kN = 256, kK = 64;  // of a block; a row of an operand's tile is 128 bytes
constexpr int kStages = 4, kThreads = 128;
constexpr int kLeftBytes = kM * kK * 2, kRightBytes = kN * kK * 2;
constexpr int kSharedBytes = kStages * (kLeftBytes + kRightBytes) + 1024;  // room to align
constexpr uint32_t kColumns = 256;          // of tensor memory: a power of two, one 32-bit column a column of sums
/// What tcgen05.mma multiplies: sums of fp32 (bits 4 to 5), operands bf16 (7 to 9, 10 to 12), none transposed (15, 16),
/// n / 8 (17 to 22), m / 16 (24 to 28).
constexpr uint32_t kInstruction = 1u << 4 | 1u << 7 | 1u << 10 | uint32_t(kN / 8) << 17 | uint32_t(kM / 16) << 24;
/// Where an operand stands in shared memory: address / 16 (bits 0 to 13), 1 for the unused leading offset (16 to 29),
/// 1024 bytes from eight rows to the next (32 to 45), the constant 1 (46 to 48), swizzle of 128 bytes (2 in 61 to 63).
__host__ __device__ constexpr uint64_t operand(uint32_t at) {
  return uint64_t((at & 0x3FFFF) / 16) | uint64_t{1} << 16 | uint64_t{1024 / 16} << 32 | uint64_t{1} << 46 | uint64_t{2} << 61;
}
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
/// One thread issues 128 x 16 times 16 x 256, onto the sums in tensor memory or in their place.
__device__ void multiply(uint32_t sums, uint64_t a, uint64_t b, uint32_t onto) {
  asm volatile(
      "{\n.reg .pred onto;\nsetp.ne.b32 onto, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, onto;\n}\n" ::"r"(sums),
      "l"(a), "l"(b), "r"(kInstruction), "r"(onto)
      : "memory");
}
/// The barrier is arrived at when all products issued so far by this thread are done with their operands and sums.
__device__ void arrive_after_products(uint64_t* barrier) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];\n" ::"r"(at) : "memory");
}
__device__ void fence_after_barrier() { asm volatile("tcgen05.fence::after_thread_sync;\n" ::: "memory"); }
__device__ void fence_before_barrier() { asm volatile("tcgen05.fence::before_thread_sync;\n" ::: "memory"); }

// region tensor memory
/// All of a warp allocate and free; the address comes by way of shared memory.
__device__ void allocate(uint32_t* address) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(address));
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n" ::"r"(at), "r"(kColumns) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" ::: "memory");
}
__device__ void release(uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;\n" ::"r"(address), "r"(kColumns) : "memory");
}
/// 32 columns of the warp's 32 lanes, a lane a thread. A warp reaches the lanes from 32 times its number modulo four.
__device__ void load(uint32_t (&v)[32], uint32_t from) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
      "%23, %24, %25, %26, %27, %28, %29, %30, %31 "
      "}, [%32];\n"
      : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]), "=r"(v[8]),
        "=r"(v[9]), "=r"(v[10]), "=r"(v[11]), "=r"(v[12]), "=r"(v[13]), "=r"(v[14]), "=r"(v[15]), "=r"(v[16]),
        "=r"(v[17]), "=r"(v[18]), "=r"(v[19]), "=r"(v[20]), "=r"(v[21]), "=r"(v[22]), "=r"(v[23]), "=r"(v[24]),
        "=r"(v[25]), "=r"(v[26]), "=r"(v[27]), "=r"(v[28]), "=r"(v[29]), "=r"(v[30]), "=r"(v[31])
      : "r"(from));
  asm volatile("tcgen05.wait::ld.sync.aligned;\n" ::: "memory");
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+r"(v[i])::"memory");  // none is read before the wait
}

// region kernel
__global__ void __launch_bounds__(kThreads, 1)
    product(const __grid_constant__ CUtensorMap left_map, const __grid_constant__ CUtensorMap right_map,
            __nv_bfloat16* __restrict__ c, int m, int n, int k) {
  extern __shared__ unsigned char shared[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages], done;
  __shared__ uint32_t allocated;
  const auto begin = (static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + 1023) / 1024 * 1024;
  const uint32_t left = begin, right = begin + kStages * kLeftBytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = (k + kK - 1) / kK;
  int row, column;
  tile_of(blockIdx.x, (m + kM - 1) / kM, (n + kN - 1) / kN, row, column);
  row *= kM;
  column *= kN;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      prepare(&full[s], 1);
      prepare(&empty[s], 1);
    }
    prepare(&done, 1);
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  if (warp == 1) allocate(&allocated);
  fence_before_barrier();
  __syncthreads();
  fence_after_barrier();
  const uint32_t sums = allocated;

  if (warp == 0 && lane == 0) {
    for (int t = 0; t < steps; ++t) {
      const int s = t % kStages;
      if (t >= kStages) wait(&empty[s], (t / kStages - 1) % 2);
      arrive_and_expect(&full[s], kLeftBytes + kRightBytes);
      fetch_box(left + s * kLeftBytes, &left_map, &full[s], t * kK, row);
      fetch_box(right + s * kRightBytes, &right_map, &full[s], t * kK, column);
    }
  } else if (warp == 1 && lane == 0) {
    for (int t = 0; t < steps; ++t) {
      const int s = t % kStages;
      wait(&full[s], t / kStages % 2);
      fence_after_barrier();
#pragma unroll
      for (int l = 0; l < kK / 16; ++l)  // 16 numbers along k are 32 bytes further in the swizzled row
        multiply(sums, operand(left + s * kLeftBytes + l * 32), operand(right + s * kRightBytes + l * 32), t > 0 || l > 0);
      arrive_after_products(&empty[s]);
    }
    arrive_after_products(&done);
  }
  __syncwarp();  // the sums are read by whole warps
  wait(&done, 0);
  fence_after_barrier();
  const int mine = row + warp * 32 + lane;
  for (int first = 0; first < kN; first += 32) {
    uint32_t v[32];
    load(v, sums + (uint32_t(warp * 32) << 16) + first);  // lane in the upper half of the address, column in the lower
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
      uint4 eight;
      uint32_t* words = &eight.x;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const __nv_bfloat162 two =
            __floats2bfloat162_rn(__uint_as_float(v[i + 2 * j]), __uint_as_float(v[i + 2 * j + 1]));
        words[j] = *reinterpret_cast<const uint32_t*>(&two);
      }
      const int at = column + first + i;
      if (mine < m && at < n) *reinterpret_cast<uint4*>(c + static_cast<int64_t>(mine) * n + at) = eight;
    }
  }
  fence_before_barrier();
  __syncthreads();
  if (warp == 1) release(sums);
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

bool describe(Encode encode, CUtensorMap& map, const __nv_bfloat16* matrix, int rows, int columns, int box_rows) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[] = {kK, static_cast<cuuint32_t>(box_rows)}, steps[] = {1, 1};
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(matrix), sizes, pitch, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

extern "C" void solve(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M, int N, int K, cudaStream_t stream) {
  static const Encode encode = encoder();
  CUtensorMap left, right;
  if (!encode || N % 8 != 0 || K % 8 != 0 || !describe(encode, left, A, M, K, kM) || !describe(encode, right, B, N, K, kN)) return;
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  product<<<((M + kM - 1) / kM) * ((N + kN - 1) / kN), kThreads, kSharedBytes, stream>>>(left, right, C, M, N, K);
}
