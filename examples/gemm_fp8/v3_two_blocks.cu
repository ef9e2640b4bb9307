// As v2, but blocks of 64 x 128 with one warp group, two of them on a multiprocessor: while one
// scales its sums, the other multiplies. Rows that are no multiple of 16 bytes take one thread an
// element.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace {

using Number = __nv_fp8_e4m3;

constexpr int kThreads = 128;
constexpr int kM = 64, kN = 128, kK = 128;  // of a block; a group of four warps takes 64 rows
constexpr int kStages = 4;
constexpr int kLeftBytes = kM * kK, kRightBytes = kN * kK, kStageBytes = kLeftBytes + kRightBytes;
constexpr int kSharedBytes =
    kStages * kStageBytes + 1024;  // tiles begin at multiples of 1024 bytes

struct Problem {
  const Number* a;
  const Number* b;
  const float* a_scales;
  const float* b_scales;
  __nv_bfloat16* c;
  int m, n, k;
};

/// Where a chunk of 16 bytes stands in a tile whose rows are 128 bytes.
__device__ uint32_t place(int row, int chunk) {
  return static_cast<uint32_t>(row * 128 + (chunk ^ row % 8) * 16);
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

/// d = left right^T (+ d if `adds`) for 64 x 128 x 32 numbers, by the four warps of a group; not
/// done before wait.
__device__ void multiply_tiles(float (&d)[64], uint64_t left, uint64_t right, int adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, adds, 1, 1;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "l"(left), "l"(right), "r"(adds));
}

/// Registers written before are seen by the products that follow.
__device__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

__device__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

template <int kLeft>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kLeft) : "memory");
}

/// What cp.async has written is seen by the products of all threads after the next barrier.
__device__ void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}

/// How products find a tile: rows of 128 bytes, eight rows 1024 bytes after one another, chunks
/// permuted as `place` does (the 128-byte pattern of the hardware).
__device__ uint64_t described(uint32_t tile) {
  return (tile & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62;
}

/// kRows rows of 128 bytes, by all threads; zeros outside of the matrix.
template <int kRows>
__device__ void load_rows(uint32_t to, const Number* from, int row, int rows, int begin, int k) {
#pragma unroll
  for (int i = threadIdx.x; i < kRows * 8; i += kThreads) {
    const int r = i / 8, chunk = i % 8;
    const bool inside = row + r < rows && begin + 16 * chunk < k;
    copy_chunk(to + place(r, chunk),
               from + (inside ? static_cast<int64_t>(row + r) * k + begin + 16 * chunk : 0),
               inside);
  }
}

__device__ void load_tile(const Problem& p, uint32_t to, int row, int column, int begin) {
  load_rows<kM>(to, p.a, row, p.m, begin, p.k);
  load_rows<kN>(to + kLeftBytes, p.b, column, p.n, begin, p.k);
}

/// The scales of this lane's two rows for a block of 128 along k, times that of b.
__device__ float2 scales_of(const Problem& p, int block, int row, int column) {
  const int blocks = (p.k + 127) / 128;
  const float of_b = p.b_scales[column / 128 * blocks + block];
  const float* of_a = p.a_scales + block;
  return make_float2(of_b * of_a[static_cast<int64_t>(min(row, p.m - 1)) * blocks],
                     of_b * of_a[static_cast<int64_t>(min(row + 8, p.m - 1)) * blocks]);
}

__device__ void promote(float (&sums)[64], const float (&part)[64], float2 scale) {
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    sums[4 * j] += scale.x * part[4 * j];
    sums[4 * j + 1] += scale.x * part[4 * j + 1];
    sums[4 * j + 2] += scale.y * part[4 * j + 2];
    sums[4 * j + 3] += scale.y * part[4 * j + 3];
  }
}

/// A tile of 128 along k: four products, begun.
__device__ void multiply_stage(float (&part)[64], uint32_t left, uint32_t right) {
  const uint64_t a = described(left), b = described(right);
  begin_products();
#pragma unroll
  for (int l = 0; l < 4; ++l) multiply_tiles(part, a + 2 * l, b + 2 * l, l);  // 32 bytes on
  commit_products();
}

__device__ void store(const Problem& p, const float (&sums)[64], int row, int column) {
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + 8 * half, s = column + 8 * j + threadIdx.x % 4 * 2;
      if (r < p.m && s < p.n)
        *reinterpret_cast<__nv_bfloat162*>(p.c + static_cast<int64_t>(r) * p.n + s) =
            __floats2bfloat162_rn(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
    }
}

__global__ void __launch_bounds__(kThreads, 2) product(Problem p) {
  extern __shared__ unsigned char shared[];
  const uint32_t base =
      (static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + 1023) / 1024 * 1024;
  const int row = blockIdx.y * kM, column = blockIdx.x * kN;
  const int of_group = threadIdx.x / 128 * 64;
  const int of_lane = row + of_group + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
  const int tiles = (p.k + kK - 1) / kK;
  float sums[64] = {}, part[64];
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) load_tile(p, base + s * kStageBytes, row, column, s * kK);
    commit_copies();
  }
  for (int t = 0; t < tiles; ++t) {
    wait_for_copies<kStages - 2>();
    show_to_products();
    __syncthreads();
    const int ahead = t + kStages - 1;
    if (ahead < tiles) load_tile(p, base + ahead % kStages * kStageBytes, row, column, ahead * kK);
    commit_copies();
    const uint32_t here = base + t % kStages * kStageBytes;
    multiply_stage(part, here + of_group * kK, here + kLeftBytes);
    const float2 scale = scales_of(p, t, of_lane, column);
    wait_for_products<0>();
    promote(sums, part, scale);
  }
  store(p, sums, of_lane, column);
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
