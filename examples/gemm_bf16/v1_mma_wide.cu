// Tensor cores through mma.sync: blocks of 128 x 256, eight warps of 64 x 64, tiles of 32 along k that
// cp.async brings into 4 stages of shared memory. Chunks of 16 bytes are permuted within their rows so
// that ldmatrix meets no bank twice. Any size whose rows are multiples of 16 bytes; others take one
// thread an element.
//
// ABLATE_memory_multi_stage_pipeline waits for every tile before it is used and loads nothing ahead;
// ABLATE_memory_bank_conflict leaves the chunks where they are.
#include <cuda_bf16.h>

#include <cstdint>

namespace {

using Number = __nv_bfloat16;

constexpr int kThreads = 256;
constexpr int kM = 128, kN = 256, kK = 32;  // of a block
constexpr int kWarpM = 64, kWarpN = 64;      // of a warp
constexpr int kStages = 4;
constexpr int kLeftBytes = kM * kK * 2, kRightBytes = kK * kN * 2;
constexpr int kSharedBytes = kStages * (kLeftBytes + kRightBytes);

/// Where a chunk of eight numbers stands in a tile of the left matrix: rows of four chunks.
__device__ uint32_t left_place(int row, int chunk) {
#ifndef ABLATE_memory_bank_conflict
  chunk ^= row / 2 % 4;
#endif
  return static_cast<uint32_t>(row * kK * 2 + chunk * 16);
}

/// The same for the right matrix: rows of kN / 8 chunks.
__device__ uint32_t right_place(int row, int chunk) {
#ifndef ABLATE_memory_bank_conflict
  chunk ^= row % 8;
#endif
  return static_cast<uint32_t>(row * kN * 2 + chunk * 16);
}

/// 16 bytes from global to shared memory, zeros where `inside` is false.
__device__ void copy_chunk(uint32_t to, const Number* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0));
}

__device__ void load_four(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
}

__device__ void load_four_turned(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

struct Problem {
  const Number* a;
  const Number* b;
  Number* c;
  int m, n, k;
};

__device__ void load_tile(const Problem& p, uint32_t left, uint32_t right, int row, int column, int begin) {
#pragma unroll
  for (int i = threadIdx.x; i < kM * kK / 8; i += kThreads) {
    const int r = i / (kK / 8), chunk = i % (kK / 8);
    const bool inside = row + r < p.m && begin + 8 * chunk < p.k;
    const auto at = static_cast<int64_t>(row + r) * p.k + begin + 8 * chunk;
    copy_chunk(left + left_place(r, chunk), p.a + (inside ? at : 0), inside);
  }
#pragma unroll
  for (int i = threadIdx.x; i < kK * kN / 8; i += kThreads) {
    const int l = i / (kN / 8), chunk = i % (kN / 8);
    const bool inside = begin + l < p.k && column + 8 * chunk < p.n;
    const auto at = static_cast<int64_t>(begin + l) * p.n + column + 8 * chunk;
    copy_chunk(right + right_place(l, chunk), p.b + (inside ? at : 0), inside);
  }
}

__device__ void use_tile(float (&sums)[kWarpM / 16][kWarpN / 8][4], uint32_t left, uint32_t right,
                         int warp_row, int warp_column) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int l = 0; l < kK / 16; ++l) {
    uint32_t a[kWarpM / 16][4], b[kWarpN / 16][4];
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
      load_four(a[i], left + left_place(warp_row + 16 * i + lane % 16, 2 * l + lane / 16));
#pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j)
      load_four_turned(b[j], right + right_place(16 * l + lane % 16, warp_column / 8 + 2 * j + lane / 16));
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j)
        multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
  }
}

__device__ void store(const Problem& p, const float (&sums)[kWarpM / 16][kWarpN / 8][4], int row,
                      int column) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
    for (int j = 0; j < kWarpN / 8; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + 16 * i + 8 * half + lane / 4, s = column + 8 * j + lane % 4 * 2;
        if (r < p.m && s < p.n)
          *reinterpret_cast<__nv_bfloat162*>(p.c + static_cast<int64_t>(r) * p.n + s) =
              __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
}

__global__ void __launch_bounds__(kThreads) product(Problem p) {
  extern __shared__ __align__(128) unsigned char shared[];
  const auto left = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t right = left + kStages * kLeftBytes;
  const int row = blockIdx.y * kM, column = blockIdx.x * kN;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / (kN / kWarpN) * kWarpM, warp_column = warp % (kN / kWarpN) * kWarpN;
  const int tiles = (p.k + kK - 1) / kK;
  float sums[kWarpM / 16][kWarpN / 8][4] = {};

#ifndef ABLATE_memory_multi_stage_pipeline
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) load_tile(p, left + s * kLeftBytes, right + s * kRightBytes, row, column, s * kK);
    asm volatile("cp.async.commit_group;\n");
  }
  for (int t = 0; t < tiles; ++t) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(kStages - 2));
    __syncthreads();
    const int ahead = t + kStages - 1, to = ahead % kStages;
    if (ahead < tiles)
      load_tile(p, left + to * kLeftBytes, right + to * kRightBytes, row, column, ahead * kK);
    asm volatile("cp.async.commit_group;\n");
    use_tile(sums, left + t % kStages * kLeftBytes, right + t % kStages * kRightBytes, warp_row,
             warp_column);
  }
#else
  for (int t = 0; t < tiles; ++t) {
    load_tile(p, left, right, row, column, t * kK);
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n");
    __syncthreads();
    use_tile(sums, left, right, warp_row, warp_column);
    __syncthreads();
  }
#endif
  store(p, sums, row + warp_row, column + warp_column);
}

__global__ void product_any(Problem p) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int l = 0; l < p.k; ++l)
    sum += __bfloat162float(p.a[static_cast<int64_t>(row) * p.k + l]) *
           __bfloat162float(p.b[static_cast<int64_t>(l) * p.n + column]);
  p.c[static_cast<int64_t>(row) * p.n + column] = __float2bfloat16(sum);
}

}  // namespace

extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                      int k) {
  const Problem problem{a, b, c, m, n, k};
  const auto places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                      reinterpret_cast<uintptr_t>(c);
  if (places % 16 != 0 || n % 8 != 0 || k % 8 != 0) {
    product_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(problem);
    return;
  }
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  product<<<dim3((n + kN - 1) / kN, (m + kM - 1) / kM), kThreads, kSharedBytes>>>(problem);
}
