// C = A B in bf16 on the tensor cores: mma.sync fed by ldmatrix from a ring of shared-memory tiles
// that cp.async fills. TILE_N, STAGES and the methods named in ABLATE_ macros can be varied.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef STAGES
#define STAGES 3
#endif

constexpr int kM = 128;
constexpr int kN = TILE_N;
constexpr int kK = 32;
#ifdef ABLATE_memory_multi_stage_pipeline
constexpr int kStages = 1;
#else
constexpr int kStages = STAGES;
#endif
#ifdef ABLATE_memory_bank_conflict
constexpr int kPad = 0;
#else
constexpr int kPad = 8;  // 16 bytes: the eight rows of an ldmatrix fall into different banks
#endif
constexpr int kWarpsM = 2;
constexpr int kWarpsN = 4;
constexpr int kThreads = 32 * kWarpsM * kWarpsN;
constexpr int kWarpM = kM / kWarpsM;
constexpr int kWarpN = kN / kWarpsN;
constexpr int kAcross = kWarpN / 8;  // mma tiles of 16 x 8
constexpr int kDown = kWarpM / 16;

using Bf16 = __nv_bfloat16;

struct Stage {
  Bf16 a[kM][kK + kPad];
  Bf16 b[kK][kN + kPad];
};

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

// The block's next kK columns of A and rows of B.
__device__ void fetch(Stage& stage, const Bf16* a, const Bf16* b, int n, int k) {
  for (int i = threadIdx.x; i < kM * kK / 8; i += kThreads) {
    const int row = i / (kK / 8), col = i % (kK / 8) * 8;
    copy_16(&stage.a[row][col], a + static_cast<int64_t>(row) * k + col);
  }
  for (int i = threadIdx.x; i < kK * kN / 8; i += kThreads) {
    const int row = i / (kN / 8), col = i % (kN / 8) * 8;
    copy_16(&stage.b[row][col], b + static_cast<int64_t>(row) * n + col);
  }
}

__device__ void load_a(uint32_t (&fragment)[4], const Stage& stage, int row, int col) {
  const int lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(shared_address(&stage.a[row + lane % 16][col + lane / 16 * 8])));
}

// Two neighbouring 16 x 8 operands at once.
__device__ void load_b(uint32_t (&fragment)[4], const Stage& stage, int row, int col) {
  const int lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(shared_address(&stage.b[row + lane % 16][col + lane / 16 * 8])));
}

__device__ void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(kThreads)
    gemm(const Bf16* a, const Bf16* b, Bf16* c, int n, int k) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* stages = reinterpret_cast<Stage*>(memory);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / kWarpsN * kWarpM, warp_col = warp % kWarpsN * kWarpN;
  a += static_cast<int64_t>(blockIdx.y) * kM * k;
  b += blockIdx.x * kN;
  float sums[kDown][kAcross][4] = {};

  const int steps = k / kK;
  for (int s = 0; s < kStages - 1 && s < steps; ++s) {
    fetch(stages[s], a + s * kK, b + static_cast<int64_t>(s) * kK * n, n, k);
    asm volatile("cp.async.commit_group;");
  }
  for (int step = 0; step < steps; ++step) {
    const int next = step + kStages - 1;
    if (kStages == 1) __syncthreads();  // nobody reads what is overwritten now
    if (kStages == 1 && next < steps)
      fetch(stages[0], a + next * kK, b + static_cast<int64_t>(next) * kK * n, n, k);
    if (kStages == 1) asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages > 1 ? kStages - 2 : 0) : "memory");
    __syncthreads();
    if (kStages > 1) {
      if (next < steps)
        fetch(stages[next % kStages], a + next * kK, b + static_cast<int64_t>(next) * kK * n, n, k);
      asm volatile("cp.async.commit_group;");
    }
    const Stage& stage = stages[step % kStages];
#pragma unroll
    for (int inner = 0; inner < kK; inner += 16) {
      uint32_t a_part[kDown][4], b_part[kAcross / 2][4];
#pragma unroll
      for (int i = 0; i < kDown; ++i) load_a(a_part[i], stage, warp_row + i * 16, inner);
#pragma unroll
      for (int j = 0; j < kAcross / 2; ++j) load_b(b_part[j], stage, inner, warp_col + j * 16);
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          multiply(sums[i][j], a_part[i], b_part[j / 2][j % 2 * 2], b_part[j / 2][j % 2 * 2 + 1]);
    }
  }

  c += static_cast<int64_t>(blockIdx.y) * kM * n + blockIdx.x * kN;
#pragma unroll
  for (int i = 0; i < kDown; ++i)
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      const int row = warp_row + i * 16 + lane / 4, col = warp_col + j * 8 + lane % 4 * 2;
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<int64_t>(row) * n + col) =
          __floats2bfloat162_rn(sums[i][j][0], sums[i][j][1]);
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<int64_t>(row + 8) * n + col) =
          __floats2bfloat162_rn(sums[i][j][2], sums[i][j][3]);
    }
}

// Sizes that are no multiples of the tile: one thread per element.
__global__ void any_size(const Bf16* a, const Bf16* b, Bf16* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __bfloat162float(a[static_cast<int64_t>(row) * k + i]) *
           __bfloat162float(b[static_cast<int64_t>(i) * n + col]);
  c[static_cast<int64_t>(row) * n + col] = __float2bfloat16(sum);
}

extern "C" void solve(const Bf16* a, const Bf16* b, Bf16* c, int m, int n, int k) {
  if (m % kM != 0 || n % kN != 0 || k % kK != 0) {
    any_size<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
    return;
  }
  constexpr int kBytes = kStages * sizeof(Stage);
  cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  gemm<<<dim3(n / kN, m / kM), kThreads, kBytes>>>(a, b, c, n, k);
}
