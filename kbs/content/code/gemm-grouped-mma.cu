// ---
// id: code-gemm-grouped-mma
// title: "Grouped bf16 matrix product (mixture of experts), rows sorted by group: complete code"
// kind: code
// tags: [gemm, tensor-cores, cp-async, pipelining]
// architectures: [sm80, sm86, sm89, sm90, sm100, sm120]
// languages: [cuda-cpp]
// aliases: [grouped GEMM code, MoE GEMM code, expert GEMM code, ragged GEMM code, mixture of experts code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_80, sm_90a, sm_120a]
// related: [kernel-gemm-grouped-mma, code-gemm-bf16-mma]
// cures:
//   pattern-launch-bound: index
//   pattern-small-grid: index
//   method-static-launch-grid-graph: launch
// sources:
//   - {id: ratchet-code, title: "written for this wiki, compiled with nvcc 13.0; its index arithmetic is tested on the host", publisher: "ratchet"}
// task:
//   dims: {rows: 4096, groups: 16, N: 2048, K: 2048}
//   cases: [{rows: 4096, groups: 16, N: 2048, K: 2048}, {rows: 501, groups: 7, N: 171, K: 264}]
//   where: ["K % 8 == 0"]
//   tensors:
//     - {name: A, dtype: bfloat16, shape: [rows, K], role: in}
//     - {name: B, dtype: bfloat16, shape: [groups, N, K], role: in}
//     - {name: offsets, dtype: int32, shape: ["groups + 1"], role: in, init: "offsets(rows)"}
//     - {name: C, dtype: bfloat16, shape: [rows, N], role: out}
//   work: {bytes: "2 * (rows * K + groups * N * K + rows * N)", flops: "2 * rows * N * K", type: bfloat16}
//   steps: 2
//   library: "torch._grouped_mm"
// measured:
//   - {step: v0, ms: 0.113, times_v0: 1, of_library: 1, registers: 254, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
//   - {step: v1, ms: 0.135, times_v0: 0.834, of_library: 0.833, registers: 168, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// Rows offsets[g] to offsets[g + 1] of A [rows][K] times B[g] [N][K]^T, for each group g: C [rows][N], all bf16, row-
// major, sums in fp32. K is a multiple of 8; groups may be empty. The sizes of the groups stay on the device: the grid
// has room for the most tiles that any sizes can give, and blocks without a tile leave.
//
// STEP is a rung of the ladder: 0 tiles of 128 rows; 1 of 64, so that a group's last tile wastes half as much.
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
constexpr int kRows = STEP >= 1 ? 64 : 128, kColumns = 128, kDepth = 64, kStages = STEP >= 1 ? 4 : 3;  // of a block
constexpr int kWarpM = 64, kWarpN = STEP >= 1 ? 32 : 64, kWarpsN = kColumns / kWarpN, kThreads = kRows / kWarpM * kWarpsN * 32;
constexpr int kChunks = kDepth / 8, kParts = kDepth / 16, kStageBytes = (kRows + kColumns) * kDepth * 2;  // a chunk: 16 bytes
/// Place of a 16-byte chunk in a tile. A row is a 128-byte line of the banks, so the chunk is exchanged by the row:
/// eight rows of one chunk column then lie in eight different groups.
__host__ __device__ constexpr int place(int row, int chunk) { return row * kDepth + ((chunk ^ (row & 7)) * 8); }
/// Row and chunk whose address a lane gives to ldmatrix.x4. A: 16 rows x 16 deep; B: 16 columns x 16 deep.
__host__ __device__ constexpr int a_row(int lane) { return lane & 15; }
__host__ __device__ constexpr int a_chunk(int lane) { return lane >> 4; }
__host__ __device__ constexpr int b_row(int lane) { return (lane & 7) + ((lane >> 4) << 3); }
__host__ __device__ constexpr int b_chunk(int lane) { return (lane >> 3) & 1; }
/// Row and column of accumulator i of a lane in a 16 x 8 tile.
__host__ __device__ constexpr int d_row(int lane, int i) { return (lane >> 2) + (i >> 1) * 8; }
__host__ __device__ constexpr int d_col(int lane, int i) { return (lane & 3) * 2 + (i & 1); }
/// Most tiles of kRows rows that `rows` rows in `groups` groups can need: each group may end within one.
__host__ __device__ constexpr int row_tiles(int rows, int groups) { return rows / kRows + (groups < rows ? groups : rows); }
/// First and end row of tile `tile`, and its group; false when there are fewer tiles.
__host__ __device__ constexpr bool find(const int* offsets, int groups, int tile, int& group, int& first, int& end) {
  for (group = 0; group < groups; ++group) {
    const int tiles = (offsets[group + 1] - offsets[group] + kRows - 1) / kRows;
    if (tile < tiles) return first = offsets[group] + tile * kRows, end = offsets[group + 1], true;
    tile -= tiles;
  }
  return false;
}

// region copies
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kOpen> __device__ inline void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory"); }
/// Fetches a thread's chunks of a tile, of which `rows` rows from its first on are inside of the matrix; what lies
/// outside is zero. A thread keeps its chunk and its row modulo 8, so that all its places are a constant apart.
template <int kTile> __device__ inline void fetch(uint32_t to, const __nv_bfloat16* from, int rows, size_t pitch) {
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
    gemm(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B, const int* __restrict__ offsets,
         __nv_bfloat16* __restrict__ C, int groups, int N, int K) {
  extern __shared__ __align__(128) __nv_bfloat16 tiles[];  // kStages times A and B
  const uint32_t shared = uint32_t(__cvta_generic_to_shared(tiles));
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warp_m = warp / kWarpsN * kWarpM, warp_n = warp % kWarpsN * kWarpN;
  int group, m, end;
  if (!find(offsets, groups, blockIdx.x, group, m, end)) return;  // neighbors in x share the columns of B
  const int n = blockIdx.y * kColumns, steps = (K + kDepth - 1) / kDepth;
  B += size_t(group) * N * K;
  const auto tile_of_step = [&](int step) { return shared + step % kStages * kStageBytes; };
  const int row = threadIdx.x / kChunks, chunk = threadIdx.x % kChunks;
  const __nv_bfloat16 *a_from = A + size_t(m + row) * K + chunk * 8, *b_from = B + size_t(n + row) * K + chunk * 8;
  const auto fetch_step = [&](int step) {
    if (step < steps) {
      const uint32_t to = tile_of_step(step) + place(row, chunk) * 2;
      const bool inside = step * kDepth + chunk * 8 < K;
      fetch<kRows>(to, a_from + step * kDepth, inside ? end - m - row : 0, K);
      fetch<kColumns>(to + kRows * kDepth * 2, b_from + step * kDepth, inside ? N - n - row : 0, K);
    }
    commit();  // also when empty, so that the count of groups stays that of the steps
  };
  uint32_t a[2][kWarpM / 16][4], b[2][kWarpN / 16][4];  // of 16 deep, and of the next
  const auto load = [&](int to, uint32_t tile, int k) {
    #pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
      load4(a[to][i], tile + (place(warp_m + a_row(lane), k * 2 + a_chunk(lane)) + i * 16 * kDepth) * 2);
    #pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j)
      load4(b[to][j], tile + (kRows * kDepth + place(warp_n + b_row(lane), k * 2 + b_chunk(lane)) + j * 16 * kDepth) * 2);
  };
  const auto next_step = [&] {
    wait<kStages - 2>();  // the next step's tile has landed for this thread
    __syncthreads();      // ... for all, and all have loaded from the tile of the step before
  };
  for (int step = 0; step < kStages - 1; ++step) fetch_step(step);
  next_step();
  load(0, shared, 0);
  float d[kWarpM / 16][kWarpN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    #pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const bool last = k == kParts - 1;
      if (last) next_step();
      load((k + 1) % 2, tile_of_step(step + last), (k + 1) % kParts);
      if (k == 0) fetch_step(step + kStages - 1);  // into the tile of the step before
      #pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i)
        #pragma unroll
        for (int j = 0; j < kWarpN / 8; ++j)
          mma(d[i][j], a[k % 2][i], b[k % 2][j / 2][j % 2 * 2], b[k % 2][j / 2][j % 2 * 2 + 1]);
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
        if (row >= end || col >= N) continue;
        if (N % 2 == 0) {
          *reinterpret_cast<__nv_bfloat162*>(out) = __floats2bfloat162_rn(d[i][j][e], d[i][j][e + 1]);
        } else {
          out[0] = __float2bfloat16(d[i][j][e]);
          if (col + 1 < N) out[1] = __float2bfloat16(d[i][j][e + 1]);
        }
      }
}

// region launch
extern "C" void solve(const __nv_bfloat16* A, const __nv_bfloat16* B, const int* offsets, __nv_bfloat16* C, int rows, int groups,
                      int N, int K, cudaStream_t stream) {
  constexpr int kBytes = kStages * kStageBytes;  // 96 KB: above 48 it must be asked for
  if (cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes) != cudaSuccess) return;
  gemm<<<dim3(row_tiles(rows, groups), (N + kColumns - 1) / kColumns), kThreads, kBytes, stream>>>(A, B, offsets, C, groups, N, K);
}
