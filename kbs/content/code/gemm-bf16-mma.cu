// ---
// id: code-gemm-bf16-mma
// title: "bf16 matrix product with mma.sync, cp.async and one barrier a tile: complete code"
// kind: code
// tags: [gemm, tensor-cores, cp-async, pipelining, bank-conflicts]
// architectures: [sm80, sm86, sm89, sm90, sm100, sm120]
// languages: [cuda-cpp]
// aliases: [GEMM code, mma.sync GEMM, ldmatrix GEMM, XOR swizzle code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_80, sm_90a, sm_120a]
// related: [kernel-gemm-bf16-mma]
// cures:
//   pattern-fma-without-tensor: products
//   pattern-barrier-stalls: kernel
//   pattern-bank-conflicts: index
//   pattern-shared-memory-stalls: products
//   pattern-latency-bound-loads: copies
//   pattern-tensor-pipe-underfed: kernel
//   method-tensor-core: products
//   method-ldmatrix-stmatrix: products
//   method-multi-stage-pipeline: kernel
//   method-async-copy: copies
//   method-bank-conflict: index
// sources:
//   - {id: ratchet-code, title: "written for this wiki, checked and timed through ratchet on an NVIDIA H200; its index arithmetic is tested on the host", publisher: "ratchet"}
// task:
//   dims: {M: 4096, N: 4096, K: 4096}
//   cases: [{M: 4096, N: 4096, K: 4096}, {M: 1009, N: 771, K: 1032}]
//   where: ["K % 8 == 0"]
//   tensors:
//     - {name: A, dtype: bfloat16, shape: [M, K], role: in}
//     - {name: B, dtype: bfloat16, shape: [N, K], role: in}
//     - {name: C, dtype: bfloat16, shape: [M, N], role: out}
//   work: {bytes: "2 * (M * K + N * K + M * N)", flops: "2 * M * N * K", type: bfloat16}
//   steps: 1
//   library: "torch.matmul (cuBLAS)"
// measured:
//   - {step: v0, ms: 0.545, times_v0: 1, of_library: 0.324, registers: 124, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-24}
// ---

// C[M][N] = A[M][K] B[N][K]^T, all bf16, row-major, sums in fp32. K is a multiple of 8; M and N are any.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// region index: where everything lies; plain C++, tested on the host
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kTile = 128, kDepth = 32, kStages = 4, kThreads = 256;  // block: 128 x 128, 32 deep
constexpr int kWarpM = 64, kWarpN = 32;                               // 2 x 4 warps of 64 x 32
constexpr int kChunks = kDepth / 8;                                   // of 16 bytes in a row
constexpr int kMatrix = kTile * kDepth;                               // values of one operand's tile
/// Place of a 16-byte chunk in a tile. Two rows share a 128-byte line of the banks, so the chunk is
/// exchanged by the row's pair: eight rows of one chunk column then lie in eight different groups.
__host__ __device__ constexpr int place(int row, int chunk) {
  return row * kDepth + ((chunk ^ ((row >> 1) & 3)) * 8);
}
/// Row and chunk whose address a lane gives to ldmatrix.x4. A: 16 rows x 16 deep; B: 16 columns x 16 deep.
__host__ __device__ constexpr int a_row(int lane) { return lane & 15; }
__host__ __device__ constexpr int a_chunk(int lane) { return lane >> 4; }
__host__ __device__ constexpr int b_row(int lane) { return (lane & 7) + ((lane >> 4) << 3); }
__host__ __device__ constexpr int b_chunk(int lane) { return (lane >> 3) & 1; }
/// Row and column of accumulator i of a lane in a 16 x 8 tile.
__host__ __device__ constexpr int d_row(int lane, int i) { return (lane >> 2) + (i >> 1) * 8; }
__host__ __device__ constexpr int d_col(int lane, int i) { return (lane & 3) * 2 + (i & 1); }
/// Tile of a block: bands of eight tile rows, walked column by column, so that a wave shares operands in L2.
__host__ __device__ constexpr void tile_of(int block, int rows, int cols, int& m, int& n) {
  const int band = block / (8 * cols), first = band * 8, height = rows - first < 8 ? rows - first : 8;
  const int within = block - band * 8 * cols;
  m = first + within % height;
  n = within / height;
}

// region copies
__device__ inline uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
/// 16 bytes, of which `bytes` are read and the rest is zero.
__device__ inline void copy16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kOpen>
__device__ inline void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory"); }

/// Fetches rows [row0, row0 + 128) and columns [k0, k0 + 32) of a matrix; what lies outside is zero.
__device__ inline void fetch(__nv_bfloat16* tile, const __nv_bfloat16* matrix, int row0, int k0, int rows, int depth) {
  #pragma unroll
  for (int i = threadIdx.x; i < kTile * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks, k = k0 + chunk * 8;
    const bool inside = row0 + row < rows && k < depth;
    copy16(tile + place(row, chunk), inside ? matrix + size_t(row0 + row) * depth + k : matrix, inside ? 16 : 0);
  }
}

// region products
__device__ inline void load4(uint32_t (&r)[4], const __nv_bfloat16* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)) : "memory");
}
__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// region kernel
__global__ void __launch_bounds__(kThreads) gemm(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                                                 __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) __nv_bfloat16 tiles[];  // kStages times A and B
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int warp_m = (warp >> 2) * kWarpM, warp_n = (warp & 3) * kWarpN;
  int m, n;
  tile_of(blockIdx.x, (M + kTile - 1) / kTile, (N + kTile - 1) / kTile, m, n);
  m *= kTile;
  n *= kTile;
  const int steps = (K + kDepth - 1) / kDepth;
  const auto fetch_step = [&](int step) {
    __nv_bfloat16* tile = tiles + (step % kStages) * 2 * kMatrix;
    if (step < steps) {
      fetch(tile, A, m, step * kDepth, M, K);
      fetch(tile + kMatrix, B, n, step * kDepth, N, K);
    }
    commit();  // also when empty, so that the count of groups stays that of the steps
  };
  for (int step = 0; step < kStages - 1; ++step) fetch_step(step);
  float d[kWarpM / 16][kWarpN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait<kStages - 2>();          // this step's tile has landed for this thread
    __syncthreads();              // ... for all, and all have read the tile of the step before
    fetch_step(step + kStages - 1);  // which is the one that is refilled
    const __nv_bfloat16* a_tile = tiles + (step % kStages) * 2 * kMatrix;
    const __nv_bfloat16* b_tile = a_tile + kMatrix;
    #pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      uint32_t a[kWarpM / 16][4], b[kWarpN / 16][4];
      #pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i) load4(a[i], a_tile + place(warp_m + i * 16 + a_row(lane), k * 2 + a_chunk(lane)));
      #pragma unroll
      for (int j = 0; j < kWarpN / 16; ++j) load4(b[j], b_tile + place(warp_n + j * 16 + b_row(lane), k * 2 + b_chunk(lane)));
      #pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i)
        #pragma unroll
        for (int j = 0; j < kWarpN / 8; ++j) mma(d[i][j], a[i], b[j / 2][(j & 1) * 2], b[j / 2][(j & 1) * 2 + 1]);
    }
  }
  #pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i)
    #pragma unroll
    for (int j = 0; j < kWarpN / 8; ++j)
      #pragma unroll
      for (int e = 0; e < 4; e += 2) {  // two neighbors at once where the row begins on an even value
        const int row = m + warp_m + i * 16 + d_row(lane, e), col = n + warp_n + j * 8 + d_col(lane, e);
        __nv_bfloat16* out = C + size_t(row) * N + col;
        if (row >= M || col >= N) continue;
        if (N % 2 == 0) {
          *reinterpret_cast<__nv_bfloat162*>(out) = __floats2bfloat162_rn(d[i][j][e], d[i][j][e + 1]);
        } else {
          out[0] = __float2bfloat16(d[i][j][e]);
          if (col + 1 < N) out[1] = __float2bfloat16(d[i][j][e + 1]);
        }
      }
}

// region launch
extern "C" void solve(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M, int N, int K, cudaStream_t stream) {
  constexpr int kBytes = kStages * 2 * kMatrix * int(sizeof(__nv_bfloat16));  // 64 KB: above 48 it must be asked for
  if (cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes) != cudaSuccess) return;
  const int blocks = ((M + kTile - 1) / kTile) * ((N + kTile - 1) / kTile);
  gemm<<<blocks, kThreads, kBytes, stream>>>(A, B, C, M, N, K);
}
