// Low-rank adapter: tokens times a 512 x 64 matrix, rounded to bfloat16, added up in float32.
// dims: tokens=32768
// tensor: x float32 tokens*512 in
// tensor: a float32 512*64 in
// tensor: y float32 tokens*64 out
// without SCALAR_PRODUCTS: the same tiles multiplied by tensor cores
// without BYTES, other answers: every block reads the tokens of the first
#include <cuda_bf16.h>
#include <mma.h>
namespace wmma = nvcuda::wmma;
constexpr int kPitch = 72;
__device__ void put_tile(const float* from, int pitch, __nv_bfloat16* to) {
#pragma unroll 4
  for (int k = threadIdx.x; k < 64 * 16; k += 128) {
    const int row = k / 16, column = k % 16 * 4;
    const float4 v = *reinterpret_cast<const float4*>(from + size_t(row) * pitch + column);
    auto* pair = reinterpret_cast<__nv_bfloat162*>(to + row * kPitch + column);
    pair[0] = __floats2bfloat162_rn(v.x, v.y);
    pair[1] = __floats2bfloat162_rn(v.z, v.w);
  }
}
__global__ void __launch_bounds__(128)
    adapter_tiles(const float* __restrict__ x, const float* __restrict__ a, float* __restrict__ y) {
  __shared__ __align__(32) __nv_bfloat16 left[64 * kPitch], right[64 * kPitch];
#ifdef WITHOUT_BYTES
  const float* own = x;
#else
  const float* own = x + size_t(blockIdx.x) * 64 * 512;
#endif
  float* out = y + size_t(blockIdx.x) * 64 * 64;
#ifdef WITHOUT_SCALAR_PRODUCTS
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
  for (int j = 0; j < 4; ++j) wmma::fill_fragment(sum[j], 0.0f);
#else
  const int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16 * 4;
  float sum[8][4] = {};
#endif
#pragma unroll 1
  for (int chunk = 0; chunk < 512; chunk += 64) {
    put_tile(own + chunk, 512, left);
    put_tile(a + chunk * 64, 64, right);
    __syncthreads();
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
    for (int k = 0; k < 64; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> l;
      wmma::load_matrix_sync(l, left + warp * 16 * kPitch + k, kPitch);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> r;
        wmma::load_matrix_sync(r, right + k * kPitch + j * 16, kPitch);
        wmma::mma_sync(sum[j], l, r, sum[j]);
      }
    }
#else
#pragma unroll 4
    for (int k = 0; k < 64; k += 2) {
      float2 l[8];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        l[i] = __bfloat1622float2(
            *reinterpret_cast<const __nv_bfloat162*>(left + (row + i) * kPitch + k));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto* pair =
            reinterpret_cast<const __nv_bfloat162*>(right + (k + half) * kPitch + column);
        const float2 r0 = __bfloat1622float2(pair[0]), r1 = __bfloat1622float2(pair[1]);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float v = half ? l[i].y : l[i].x;
          sum[i][0] = fmaf(v, r0.x, sum[i][0]);
          sum[i][1] = fmaf(v, r0.y, sum[i][1]);
          sum[i][2] = fmaf(v, r1.x, sum[i][2]);
          sum[i][3] = fmaf(v, r1.y, sum[i][3]);
        }
      }
    }
#endif
    __syncthreads();
  }
#ifdef WITHOUT_SCALAR_PRODUCTS
  for (int j = 0; j < 4; ++j)
    wmma::store_matrix_sync(out + warp * 16 * 64 + j * 16, sum[j], 64, wmma::mem_row_major);
#else
#pragma unroll
  for (int i = 0; i < 8; ++i)
    *reinterpret_cast<float4*>(out + (row + i) * 64 + column) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
#endif
}
extern "C" void solve(const float* x, const float* a, float* y, int tokens) {
  adapter_tiles<<<tokens / 64, 128>>>(x, a, y);
}
