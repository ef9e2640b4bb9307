// The same tiles, but left as fp8: mma.sync takes e4m3 from compute capability 8.9 on. Four stages
// of 64 along k, filled by cp.async; sums of 128 along k are scaled into a second set. Rows that
// are no multiple of 16 bytes take one thread an element.
//
// ABLATE_memory_bank_conflict leaves chunks where they are.
// ABLATE_memory_multi_stage_pipeline waits for every tile before it is used and loads nothing
// ahead.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace {

using Number = __nv_fp8_e4m3;

constexpr int kThreads = 256;
constexpr int kM = 128, kN = 128, kK = 64;  // of a block
constexpr int kWarpM = 64, kWarpN = 32;     // of a warp
constexpr int kStages = 4;
constexpr int kTileBytes = kM * kK;  // of either matrix
constexpr int kSharedBytes = kStages * 2 * kTileBytes;

struct Problem {
  const Number* a;
  const Number* b;
  const float* a_scales;
  const float* b_scales;
  __nv_bfloat16* c;
  int m, n, k;
};

using Sums = float[kWarpM / 16][kWarpN / 8][4];

/// Where a chunk of 16 bytes stands in a tile whose rows are four chunks.
__device__ uint32_t place(int row, int chunk) {
#ifndef ABLATE_memory_bank_conflict
  chunk ^= row / 2 % 4;
#endif
  return static_cast<uint32_t>(row * 64 + chunk * 16);
}

/// 16 bytes from global to shared memory, zeros where `inside` is false.
__device__ void copy_chunk(uint32_t to, const Number* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}

__device__ void commit_copies() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

template <int kLeft>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft) : "memory");
}

__device__ void load_four(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A tile of a matrix, by all threads.
__device__ void load_rows(uint32_t to, const Number* from, int row, int rows, int begin, int k) {
#pragma unroll
  for (int i = threadIdx.x; i < kM * kK / 16; i += kThreads) {
    const int r = i / (kK / 16), chunk = i % (kK / 16);
    const bool inside = row + r < rows && begin + 16 * chunk < k;
    copy_chunk(to + place(r, chunk),
               from + (inside ? static_cast<int64_t>(row + r) * k + begin + 16 * chunk : 0),
               inside);
  }
}

__device__ void load_tile(const Problem& p, uint32_t to, int row, int column, int begin) {
  load_rows(to, p.a, row, p.m, begin, p.k);
  load_rows(to + kTileBytes, p.b, column, p.n, begin, p.k);
}

__device__ void use_tile(Sums& part, uint32_t left, uint32_t right, int warp_row, int warp_column) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int l = 0; l < 2; ++l) {
    uint32_t a[kWarpM / 16][4], b[kWarpN / 16][4];
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
      load_four(a[i], left + place(warp_row + 16 * i + lane % 16, 2 * l + lane / 16));
#pragma unroll
    for (int j = 0; j < kWarpN / 16; ++j)
      load_four(b[j], right + place(warp_column + 16 * j + lane % 8 + lane / 16 * 8,
                                    2 * l + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j)
        multiply(part[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
  }
}

/// Adds what a block of 128 along k has given, scaled, and starts again.
__device__ void promote(Sums& sums, Sums& part, const Problem& p, int block, int row, int column) {
  const int blocks = (p.k + 127) / 128, lane = threadIdx.x % 32;
  const float of_b = p.b_scales[min(column, p.n - 1) / 128 * blocks + block];
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = min(row + 16 * i + 8 * half + lane / 4, p.m - 1);
      const float scale = of_b * p.a_scales[static_cast<int64_t>(r) * blocks + block];
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          sums[i][j][2 * half + e] += scale * part[i][j][2 * half + e];
          part[i][j][2 * half + e] = 0;
        }
    }
}

__device__ void store(const Problem& p, const Sums& sums, int row, int column) {
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
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const int row = blockIdx.y * kM, column = blockIdx.x * kN, warp = threadIdx.x / 32;
  const int warp_row = warp / (kN / kWarpN) * kWarpM, warp_column = warp % (kN / kWarpN) * kWarpN;
  const int tiles = (p.k + kK - 1) / kK;
  Sums sums = {}, part = {};
#ifndef ABLATE_memory_multi_stage_pipeline
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) load_tile(p, base + s * 2 * kTileBytes, row, column, s * kK);
    commit_copies();
  }
#endif
  for (int t = 0; t < tiles; ++t) {
#ifndef ABLATE_memory_multi_stage_pipeline
    wait_for_copies<kStages - 2>();
    __syncthreads();
    const int ahead = t + kStages - 1;
    if (ahead < tiles)
      load_tile(p, base + ahead % kStages * 2 * kTileBytes, row, column, ahead * kK);
    commit_copies();
#else
    __syncthreads();
    load_tile(p, base + t % kStages * 2 * kTileBytes, row, column, t * kK);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#endif
    const uint32_t here = base + t % kStages * 2 * kTileBytes;
    use_tile(part, here, here + kTileBytes, warp_row, warp_column);
    if (t % 2 == 1 || t + 1 == tiles)
      promote(sums, part, p, t / 2, row + warp_row, column + warp_column);
  }
  store(p, sums, row + warp_row, column + warp_column);
}

/// Sizes that do not suit the tiles: 32 x 32 tiles of floats in shared memory, one thread an
/// element.
__global__ void product_any(Problem p) {
  __shared__ float left[32][33], right[32][33];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x, other = blockIdx.x * 32 + y;
  const int blocks = (p.k + 127) / 128;
  float sum = 0;
  for (int block = 0; block < blocks; ++block) {
    float part = 0;
    for (int begin = block * 128; begin < min(p.k, block * 128 + 128); begin += 32) {
      const bool inside = begin + x < p.k;
      left[y][x] =
          inside && row < p.m ? float(p.a[static_cast<int64_t>(row) * p.k + begin + x]) : 0.0f;
      right[y][x] =
          inside && other < p.n ? float(p.b[static_cast<int64_t>(other) * p.k + begin + x]) : 0.0f;
      __syncthreads();
      for (int i = 0; i < 32; ++i) part += left[y][i] * right[x][i];
      __syncthreads();
    }
    if (row < p.m && column < p.n)
      sum += part * p.a_scales[static_cast<int64_t>(row) * blocks + block] *
             p.b_scales[column / 128 * blocks + block];
  }
  if (row < p.m && column < p.n)
    p.c[static_cast<int64_t>(row) * p.n + column] = __float2bfloat16(sum);
}

}  // namespace

extern "C" void solve(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_scales,
                      const float* b_scales, __nv_bfloat16* c, int m, int n, int k) {
  const Problem problem{a, b, a_scales, b_scales, c, m, n, k};
  const auto places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                      reinterpret_cast<uintptr_t>(c);
  if (places % 16 != 0 || n % 2 != 0 || k % 16 != 0) {
    product_any<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(problem);
    return;
  }
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  product<<<dim3((n + kN - 1) / kN, (m + kM - 1) / kM), kThreads, kSharedBytes>>>(problem);
}
