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
//   steps: 2
//   library: "torch.matmul (cuBLAS)"
// measured:
//   - {step: v0, ms: 0.415, times_v0: 1, of_library: 0.435, registers: 124, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v1, ms: 0.318, times_v0: 1.3, of_library: 0.567, registers: 254, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// C[M][N] = A[M][K] B[N][K]^T, all bf16, row-major, sums in fp32. K is a multiple of 8; M and N are any.
//
// STEP is a rung of the ladder: 0 eight warps of 64 x 32, steps of 32; 1 four warps of 64 x 64, steps of 64, operands of
// the next 16 of depth are loaded before the products of these.
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
constexpr int kTile = 128, kDepth = STEP >= 1 ? 64 : 32, kStages = STEP >= 1 ? 3 : 4;  // block: 128 x 128
constexpr int kWarpM = 64, kWarpN = STEP >= 1 ? 64 : 32, kWarpsN = kTile / kWarpN;
constexpr int kThreads = kTile / kWarpM * kWarpsN * 32;
constexpr int kChunks = kDepth / 8, kParts = kDepth / 16, kAhead = STEP >= 1;  // chunks are 16 bytes, parts 16 deep
constexpr int kMatrix = kTile * kDepth;  // values of one operand's tile
/// Place of a 16-byte chunk in a tile. A 128-byte line of the banks holds one row of 64 or two of 32, so the chunk is
/// exchanged by the line: eight rows of one chunk column then lie in eight different groups.
__host__ __device__ constexpr int place(int row, int chunk) {
  return row * kDepth + ((chunk ^ (row / (64 / kDepth) % kChunks)) * 8);
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
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kOpen> __device__ inline void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory"); }
/// Fetches a thread's chunks of a tile, of which `rows` rows from its first on are inside of the matrix; what lies
/// outside is zero. A thread keeps its chunk and its row modulo 8, so that all its places are a constant apart.
__device__ inline void fetch(uint32_t to, const __nv_bfloat16* from, int rows, size_t pitch) {
  constexpr int kPass = kThreads / kChunks;  // rows at a time
  #pragma unroll
  for (int i = 0; i < kTile / kPass; ++i) {
    const bool inside = i * kPass < rows;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + i * kPass * kDepth * 2),
                 "l"(from + (inside ? i * kPass * pitch : 0)), "r"(inside ? 16 : 0) : "memory");  // of size 0: nothing is read
  }
}

// region products
__device__ inline void load4(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// region kernel
__global__ void __launch_bounds__(kThreads, 2)
    gemm(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B, __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) __nv_bfloat16 tiles[];  // kStages times A and B
  const uint32_t shared = uint32_t(__cvta_generic_to_shared(tiles));
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warp_m = warp / kWarpsN * kWarpM, warp_n = warp % kWarpsN * kWarpN;
  int m, n;
  tile_of(blockIdx.x, (M + kTile - 1) / kTile, (N + kTile - 1) / kTile, m, n);
  m *= kTile, n *= kTile;
  const int steps = (K + kDepth - 1) / kDepth;
  const auto tile_of_step = [&](int step) { return shared + step % kStages * 4 * kMatrix; };
  const int row = threadIdx.x / kChunks, chunk = threadIdx.x % kChunks;
  const __nv_bfloat16 *a_from = A + size_t(m + row) * K + chunk * 8, *b_from = B + size_t(n + row) * K + chunk * 8;
  const auto fetch_step = [&](int step) {
    if (step < steps) {
      const uint32_t to = tile_of_step(step) + place(row, chunk) * 2;
      const bool inside = step * kDepth + chunk * 8 < K;
      fetch(to, a_from + step * kDepth, inside ? M - m - row : 0, K);
      fetch(to + 2 * kMatrix, b_from + step * kDepth, inside ? N - n - row : 0, K);
    }
    commit();  // also when empty, so that the count of groups stays that of the steps
  };
  uint32_t a[1 + kAhead][kWarpM / 16][4], b[1 + kAhead][kWarpN / 16][4];
  const auto load = [&](int to, uint32_t tile, int k) {
    #pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
      load4(a[to][i], tile + (place(warp_m + a_row(lane), k * 2 + a_chunk(lane)) + i * 16 * kDepth) * 2);
    #pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j)
      load4(b[to][j], tile + (kMatrix + place(warp_n + b_row(lane), k * 2 + b_chunk(lane)) + j * 16 * kDepth) * 2);
  };
  const auto next_step = [&] {
    wait<kStages - 2>();  // the next step's tile has landed for this thread
    __syncthreads();      // ... for all, and all have loaded from the tile of the step before
  };
  for (int step = 0; step < kStages - 1; ++step) fetch_step(step);
  next_step();
  if (kAhead) load(0, shared, 0);
  float d[kWarpM / 16][kWarpN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    #pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const bool last = k == kParts - 1;
      if (kAhead && last) next_step();
      if (kAhead) load((k + 1) % 2, tile_of_step(step + last), (k + 1) % kParts);
      if (k == 0) fetch_step(step + kStages - 1);  // into the tile of the step before
      if (!kAhead) load(0, tile_of_step(step), k);
      #pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i)
        #pragma unroll
        for (int j = 0; j < kWarpN / 8; ++j)
          mma(d[i][j], a[k % (1 + kAhead)][i], b[k % (1 + kAhead)][j / 2][j % 2 * 2], b[k % (1 + kAhead)][j / 2][j % 2 * 2 + 1]);
      if (!kAhead && last) next_step();
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
  constexpr int kBytes = kStages * 2 * kMatrix * int(sizeof(__nv_bfloat16));  // 96 KB: above 48 it must be asked for
  if (cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes) != cudaSuccess) return;
  const int blocks = ((M + kTile - 1) / kTile) * ((N + kTile - 1) / kTile);
  gemm<<<blocks, kThreads, kBytes, stream>>>(A, B, C, M, N, K);
}
