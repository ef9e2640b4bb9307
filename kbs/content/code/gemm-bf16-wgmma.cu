// ---
// id: code-gemm-bf16-wgmma
// title: "bf16 matrix product with TMA and wgmma on Hopper: complete code"
// kind: code
// tags: [gemm, tensor-cores, tma, pipelining, synchronization]
// architectures: [sm90]
// languages: [cuda-cpp]
// aliases: [wgmma GEMM code, Hopper GEMM code, TMA GEMM code, wgmma descriptor code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_90a]
// related: [kernel-gemm-bf16-wgmma]
// cures:
//   pattern-fma-without-tensor: descriptors and products
//   pattern-tensor-pipe-underfed: kernel
//   pattern-barrier-stalls: barriers
//   pattern-fence-stalls: barriers
//   pattern-tma-bound: tensor maps and launch
//   method-tensor-core: descriptors and products
//   method-warp-specialization: kernel
//   method-producer-regdealloc-setmaxnreg: kernel
//   method-asymmetric-mbarrier-sync: barriers
//   method-tile-scheduler-swizzle: index
//   method-persistent-kernel: kernel
//   method-tma-multicast: copies
//   pattern-tail-effect: kernel
// sources:
//   - {id: ratchet-code, title: "written for this wiki; grown from v2 of examples/gemm_bf16, a run on one H200 (commit 01efc44)", publisher: "ratchet"}
// task:
//   dims: {m: 8192, n: 8192, k: 8192}
//   cases: [{m: 8192, n: 8192, k: 8192}, {m: 4096, n: 4096, k: 4096}, {m: 1009, n: 776, k: 1032}]
//   tensors:
//     - {name: a, dtype: bfloat16, shape: [m, k], role: in}
//     - {name: b, dtype: bfloat16, shape: [k, n], role: in}
//     - {name: c, dtype: bfloat16, shape: [m, n], role: out}
//   work: {bytes: "2 * (m * k + k * n + m * n)", flops: "2 * m * n * k", type: bfloat16}
//   steps: 3
//   library: "torch.matmul (cuBLAS)"
// measured:
//   - {step: v0, ms: 2.18, times_v0: 1, of_library: 0.642, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v1, ms: 2.13, times_v0: 1.02, of_library: 0.653, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v2, ms: 1.4, times_v0: 1.56, of_library: 1.02, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// Hopper's warp group products. A cluster of two blocks works on 256 x 256 numbers of c, each block on 128 rows:
// one producer thread a block has the tensor memory accelerator fill four stages of shared memory (each half of
// the right tile is fetched once and multicast to both blocks), two warp groups of 64 rows each multiply from
// there. Blocks are resident and take tile after tile, so that the next tile's operands arrive during a store.
// Sizes whose rows are no multiples of 16 bytes take one thread an element.
//
// STEP is a rung of the ladder: 0 a block a tile; 1 resident blocks in clusters of two with multicast, both with barriers
// that order the memory of the whole cluster; 2 barriers that order the block's alone. The macro
// ABLATE_latency_tile_scheduler_swizzle takes the tiles row by row.
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
constexpr int kCluster = STEP >= 1 ? 2 : 1;  // blocks side by side along m
constexpr int kM = 128, kN = 256, kK = 64;   // of a block
constexpr int kStages = 4;
constexpr int kThreads = 384;                // two multiplying warp groups, one that loads
constexpr int kAtom = 64;                    // numbers in the 128 bytes of a swizzled row
constexpr int kLeftBytes = kM * kK * 2, kRightBytes = kK * kN * 2;
constexpr int kAtomBytes = kK * kAtom * 2;   // one box of the right matrix, or of a group's part of c
constexpr int kOutBytes = 2 * kAtomBytes;    // half a group's part of c: 64 x 128
constexpr int kSharedBytes = kStages * (kLeftBytes + kRightBytes) + 2 * kOutBytes + 1024;  // room to align
/// Row and column of sum i of a thread of a warp group, in its 64 x 256.
__host__ __device__ constexpr int sum_row(int t, int i) { return t / 32 * 16 + i / 2 % 2 * 8 + t % 32 / 4; }
__host__ __device__ constexpr int sum_column(int t, int i) { return i / 4 * 8 + t % 4 * 2 + i % 2; }
/// Byte of a number in a box of 64 columns with the 128-byte swizzle: the chunk of 16 bytes is exchanged by the row.
__host__ __device__ constexpr int box_byte(int row, int column) {
  return row * 128 + ((column / 8) ^ (row % 8)) * 16 + column % 8 * 2;
}
/// Row and column of a tile: groups of eight rows of tiles, column by column, share both matrices in the cache.
__host__ __device__ constexpr void tile_of(int number, int rows, int columns, int& row, int& column) {
#ifndef ABLATE_latency_tile_scheduler_swizzle
  constexpr int kGroup = 8;
  const int first = number / (kGroup * columns) * kGroup, within = number % (kGroup * columns);
  const int high = rows - first < kGroup ? rows - first : kGroup;
  row = first + within % high;
  column = within / high;
#else
  row = number / columns;
  column = number % columns;
#endif
}

// region barriers
namespace {
using Number = __nv_bfloat16;

__device__ uint32_t address(const void* shared) { return static_cast<uint32_t>(__cvta_generic_to_shared(shared)); }

__device__ void prepare(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(address(barrier)), "r"(arrivals));
}

// A barrier that names no scope orders the memory of its own block. Stages of operands need no more: the copies
// complete on the barrier itself, and the products that read a stage are over before the arrival. With the cluster's
// scope each arrival is a fence of the whole device (MEMBAR.ALL.GPU), and each wait drops the L1 cache (CCTL.IVALL).
#if STEP <= 1
#define RELEASE ".release.cluster"
#define ACQUIRE ".acquire.cluster"
#else
#define RELEASE
#define ACQUIRE
#endif

/// Arrives at the barrier of the same place in a block of the cluster.
__device__ void arrive(uint64_t* barrier, uint32_t block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive" RELEASE ".shared::cluster.b64 _, [there];\n}\n" ::"r"(address(barrier)), "r"(block) : "memory");
}

__device__ void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(address(barrier)), "r"(bytes) : "memory");
}

__device__ void wait(uint64_t* barrier, uint32_t phase) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity" ACQUIRE ".shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n" : "=r"(done) : "r"(address(barrier)), "r"(phase) : "memory");
}

__device__ uint32_t block_of_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
}

__device__ void join_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}

/// Waits for the 128 threads of a warp group; barrier 0 is that of the block.
__device__ void join_group(int group) { asm volatile("bar.sync %0, 128;\n" ::"r"(group + 1) : "memory"); }

// region copies
/// A box whose first number stands at (x, y), x along the rows; outside of the matrix it is zero.
__device__ void fetch_box(uint32_t to, const CUtensorMap* map, uint64_t* barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];\n"
               ::"r"(to), "l"(map), "r"(address(barrier)), "r"(x), "r"(y) : "memory");
}

/// The same, to this place and this barrier of all blocks of the cluster.
__device__ void fetch_box_for_all(uint32_t to, const CUtensorMap* map, uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4}], [%2], %5;\n"
      ::"r"(to), "l"(map), "r"(address(barrier)), "r"(x), "r"(y), "h"(static_cast<uint16_t>((1 << kCluster) - 1)) : "memory");
}

__device__ void store_box(const CUtensorMap* map, uint32_t from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\n"
               ::"l"(map), "r"(from), "r"(x), "r"(y) : "memory");
}

// region descriptors and products
/// Where an operand stands in shared memory, in rows of 128 swizzled bytes: eight rows are 1024 bytes;
/// `stride` leads from one column of such rows to the next (used by the right matrix alone).
__device__ uint64_t operand(uint32_t at, uint32_t stride) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62, kEightRows = uint64_t{1024 / 16} << 32;
  return (at & 0x3FFFF) / 16 | static_cast<uint64_t>(stride / 16) << 16 | kEightRows | kSwizzle128;
}

#define SUMS_8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)
/// 64 x 16 times 16 x 256, onto the sums or in their place; the right matrix has its rows along n.
__device__ void multiply(float (&d)[128], uint64_t a, uint64_t b, int onto) {
  asm volatile(
      "{\n.reg .pred onto;\nsetp.ne.b32 onto, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
      "%25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, "
      "%71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, "
      "%94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, "
      "%114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127 }, %128, %129, onto, 1, 1, 0, 1;\n}\n"
      : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
      : "l"(a), "l"(b), "r"(onto));
}

// region store
/// A warp group's 64 x 256 sums by way of shared memory, 128 columns at a time, in the swizzle of the map:
/// eight numbers of a row are one chunk, which is exchanged by the row, so that no two rows share banks.
__device__ void store(const CUtensorMap* map, uint32_t out, const float (&sums)[128], int group, int row, int first) {
  const int t = threadIdx.x % 128;
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;\n" ::: "memory");  // the store before has read
    join_group(group);
#pragma unroll
    for (int i = 0; i < 64; i += 2) {
      const __nv_bfloat162 two = __floats2bfloat162_rn(sums[part * 64 + i], sums[part * 64 + i + 1]);
      const int column = sum_column(t, i);
      const uint32_t to = out + column / kAtom * kAtomBytes + box_byte(sum_row(t, i), column % kAtom);
      asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(to), "r"(*reinterpret_cast<const uint32_t*>(&two)) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
    join_group(group);
    if (t == 0) {
      for (int i = 0; i < 2; ++i) store_box(map, out + i * kAtomBytes, first + part * 128 + i * kAtom, row);
      asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
    }
  }
}

// region kernel
__global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(kThreads, 1)
    product(const __grid_constant__ CUtensorMap left_map, const __grid_constant__ CUtensorMap right_map,
            const __grid_constant__ CUtensorMap out_map, int m, int n, int k) {
  extern __shared__ unsigned char shared[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const uint32_t left = (address(shared) + 1023) / 1024 * 1024;
  const uint32_t right = left + kStages * kLeftBytes, out = right + kStages * kRightBytes;
  const int rank = static_cast<int>(block_of_cluster());
  const int rows = (m + kCluster * kM - 1) / (kCluster * kM), columns = (n + kN - 1) / kN;
  const int clusters = gridDim.x / kCluster, steps = (k + kK - 1) / kK, group = threadIdx.x / 128;
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
        row = (row * kCluster + rank) * kM;
        column *= kN;
        for (int t = 0; t < steps; ++t, ++count) {
          const int s = count % kStages;
          if (count >= kStages) wait(&empty[s], (count / kStages - 1) % 2);
          arrive_and_expect(&full[s], kLeftBytes + kRightBytes);
          fetch_box(left + s * kLeftBytes, &left_map, &full[s], t * kK, row);
          for (int i = rank; i < kN / kAtom; i += kCluster)
            fetch_box_for_all(right + s * kRightBytes + i * kAtomBytes, &right_map, &full[s], column + i * kAtom, t * kK);
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n");
    const bool speaks = threadIdx.x % 128 < kCluster;  // one thread for each block of the cluster
    float sums[128];
    int count = 0;
    for (int number = blockIdx.x / kCluster; number < rows * columns; number += clusters) {
      for (int t = 0; t < steps; ++t, ++count) {
        const int s = count % kStages;
        wait(&full[s], count / kStages % 2);
        const uint32_t a = left + s * kLeftBytes + group * 64 * kK * 2, b = right + s * kRightBytes;
        asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
        for (int l = 0; l < kK / 16; ++l)
          multiply(sums, operand(a + l * 32, 16), operand(b + l * 16 * 128, kAtomBytes), t > 0 || l > 0);
        asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
        // The products of the step before are done when only this one's are pending.
        asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
        if (t > 0 && speaks) arrive(&empty[(count - 1) % kStages], threadIdx.x % 128);
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
      for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(sums[i])::"memory");  // none is read before the wait
      if (speaks) arrive(&empty[(count - 1) % kStages], threadIdx.x % 128);
      int row, column;
      tile_of(number, rows, columns, row, column);
      store(&out_map, out + group * kOutBytes, sums, group, (row * kCluster + rank) * kM + 64 * group, column * kN);
    }
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;\n" ::: "memory");
  }
  join_cluster();  // no block leaves while the other may still write to it
}

// region any size
__global__ void product_any(const Number* a, const Number* b, Number* c, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
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
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<Number*>(matrix), sizes, pitch, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  static const Encode encode = encoder();
  const auto places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c);
  CUtensorMap left, right, out;
  const bool fits = encode && places % 16 == 0 && n % 8 == 0 && k % 8 == 0 && describe(encode, left, a, m, k, kM) &&
                    describe(encode, right, b, k, n, kK) && describe(encode, out, c, m, n, 64);
  if (!fits) return product_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  int device = 0, processors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int clusters = ((m + kCluster * kM - 1) / (kCluster * kM)) * ((n + kN - 1) / kN);
  const int resident = STEP >= 1 && clusters > processors / kCluster ? processors / kCluster : clusters;
  product<<<resident * kCluster, kThreads, kSharedBytes>>>(left, right, out, m, n, k);
}
