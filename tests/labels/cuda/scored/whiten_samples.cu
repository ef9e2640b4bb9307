// Whitens samples of 128 features: each one times a matrix of 128 x 128.
// dims: samples=131072
// tensor: x float16 samples,128 in
// tensor: matrix float16 128,128 in
// tensor: white float32 samples,128 out
// without SCALAR_PRODUCTS: the tensor cores multiply
// without BYTES, other answers: all blocks read the first samples
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
constexpr int kWidth = 128, kRows = 64, kSlab = 32;
#ifdef WITHOUT_SCALAR_PRODUCTS
using Staged = __half;
constexpr int kPitchX = kSlab + 8, kPitchM = kWidth + 8;
#else
using Staged = float;
constexpr int kPitchX = kSlab + 4, kPitchM = kWidth;
#endif

__device__ void stage(const __half* from, __half* to) {
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
}
__device__ void stage(const __half* from, float* to) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  const __half2* pairs = reinterpret_cast<const __half2*>(&bits);
  const float2 a = __half22float2(pairs[0]), b = __half22float2(pairs[1]);
  const float2 c = __half22float2(pairs[2]), d = __half22float2(pairs[3]);
  reinterpret_cast<float4*>(to)[0] = make_float4(a.x, a.y, b.x, b.y);
  reinterpret_cast<float4*>(to)[1] = make_float4(c.x, c.y, d.x, d.y);
}

__global__ void __launch_bounds__(256)
    whiten(const __half* __restrict__ x, const __half* __restrict__ matrix,
           float* __restrict__ white) {
  __shared__ __align__(32) Staged xs[kRows * kPitchX], ms[kSlab * kPitchM];
  const int t = threadIdx.x;
#ifdef WITHOUT_BYTES
  const __half* from = x;
#else
  const __half* from = x + size_t(blockIdx.x) * kRows * kWidth;
#endif
  float* out = white + size_t(blockIdx.x) * kRows * kWidth;
#ifdef WITHOUT_SCALAR_PRODUCTS
  const int row = t / 32 % 4 * 16, column = t / 128 * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) wmma::fill_fragment(sum[j], 0);
#else
  const int row = t / 16 * 4, column = t % 16 * 4;
  float sum[4][8] = {};
#endif
#pragma unroll 1
  for (int slab = 0; slab < kWidth; slab += kSlab) {
    __syncthreads();
    stage(from + t / 4 * kWidth + slab + t % 4 * 8, xs + t / 4 * kPitchX + t % 4 * 8);
#pragma unroll
    for (int k = 0; k < kSlab; k += 16)
      stage(matrix + (slab + k + t / 16) * kWidth + t % 16 * 8,
            ms + (k + t / 16) * kPitchM + t % 16 * 8);
    __syncthreads();
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
    for (int k = 0; k < kSlab; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
      wmma::load_matrix_sync(a, xs + row * kPitchX + k, kPitchX);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        wmma::load_matrix_sync(b, ms + k * kPitchM + column + j * 16, kPitchM);
        wmma::mma_sync(sum[j], a, b, sum[j]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    wmma::store_matrix_sync(out + row * kWidth + column + j * 16, sum[j], kWidth,
                            wmma::mem_row_major);
#else
#pragma unroll 2
    for (int k = 0; k < kSlab; k += 4) {
      float4 a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        a[i] = *reinterpret_cast<const float4*>(xs + (row + i) * kPitchX + k);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        const float* from_matrix = ms + (k + m) * kPitchM + column;
        const float4 b = *reinterpret_cast<const float4*>(from_matrix);
        const float4 c = *reinterpret_cast<const float4*>(from_matrix + 64);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float v = m == 0 ? a[i].x : m == 1 ? a[i].y : m == 2 ? a[i].z : a[i].w;
          sum[i][0] += v * b.x, sum[i][1] += v * b.y, sum[i][2] += v * b.z, sum[i][3] += v * b.w;
          sum[i][4] += v * c.x, sum[i][5] += v * c.y, sum[i][6] += v * c.z, sum[i][7] += v * c.w;
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float4* to = reinterpret_cast<float4*>(out + (row + i) * kWidth + column);
    to[0] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    to[16] = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
#endif
}

// The number of samples is a multiple of 64.
extern "C" void solve(const __half* x, const __half* matrix, float* white, int samples) {
  whiten<<<samples / kRows, 256>>>(x, matrix, white);
}
