// Scores of fp16 queries with fp16 keys for each head, multiplied by the ordinary units in fp32
// from tiles in shared memory.
// dims: heads=128 length=512
// tensor: q float16 heads,length,64 in
// tensor: k float16 heads,length,64 in
// tensor: score float16 heads,length,length out
// without SCALAR_PRODUCTS: the tiles are multiplied by tensor cores
// without BYTES, other answers: all blocks of a head take the first tiles
// without SPECIAL_FUNCTIONS: the scale is a literal instead of a root
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void __launch_bounds__(256)
    products(const __half* __restrict__ q, const __half* __restrict__ k, __half* __restrict__ score,
             int length) {
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  const size_t head = blockIdx.z;
#ifdef WITHOUT_BYTES
  const int from_row = 0, from_col = 0;
#else
  const int from_row = row0, from_col = col0;
#endif
  const __half *qs = q + head * length * 64, *ks = k + head * length * 64;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float scale = 0.125f;
#else
  const float scale = rsqrtf(64.0f + 0.0f * gridDim.x);
#endif
#ifdef WITHOUT_SCALAR_PRODUCTS
  __shared__ __align__(32) __half a[64][72], b[64][72];
  __shared__ __align__(32) float c[64][68];
  for (int i = threadIdx.x; i < 64 * 8; i += 256) {
    const int r = i / 8, c8 = i % 8 * 8;
    *reinterpret_cast<uint4*>(&a[r][c8]) =
        from_row + r < length ? *reinterpret_cast<const uint4*>(qs + (from_row + r) * 64 + c8)
                              : uint4{};
    *reinterpret_cast<uint4*>(&b[r][c8]) =
        from_col + r < length ? *reinterpret_cast<const uint4*>(ks + (from_col + r) * 64 + c8)
                              : uint4{};
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, tile_row = warp / 2 * 16, tile_col = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
  wmma::fill_fragment(sum[0], 0.0f);
  wmma::fill_fragment(sum[1], 0.0f);
#pragma unroll
  for (int d = 0; d < 64; d += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::load_matrix_sync(fa, &a[tile_row][d], 72);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
      wmma::load_matrix_sync(fb, &b[tile_col + 16 * j][d], 72);
      wmma::mma_sync(sum[j], fa, fb, sum[j]);
    }
  }
  wmma::store_matrix_sync(&c[tile_row][tile_col], sum[0], 68, wmma::mem_row_major);
  wmma::store_matrix_sync(&c[tile_row][tile_col + 16], sum[1], 68, wmma::mem_row_major);
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    const int r = threadIdx.x / 16 + 16 * i, s = threadIdx.x % 16 * 4;
    const float* out = &c[r][s];
#else
  // A thread has four rows and four columns.
  __shared__ __align__(16) float a[64][68], b[64][68];
  for (int i = threadIdx.x; i < 64 * 8; i += 256) {
    const int r = i % 64, c8 = i / 64 * 8;
    uint4 x = {}, y = {};
    if (from_row + r < length) x = *reinterpret_cast<const uint4*>(qs + (from_row + r) * 64 + c8);
    if (from_col + r < length) y = *reinterpret_cast<const uint4*>(ks + (from_col + r) * 64 + c8);
    for (int e = 0; e < 8; ++e) {
      a[c8 + e][r] = __half2float(reinterpret_cast<const __half*>(&x)[e]);
      b[c8 + e][r] = __half2float(reinterpret_cast<const __half*>(&y)[e]);
    }
  }
  __syncthreads();
  float sum[4][4] = {};
  const int s = threadIdx.x % 16 * 4, r0 = threadIdx.x / 16 * 4;
#pragma unroll 16
  for (int d = 0; d < 64; ++d) {
    const float4 x = *reinterpret_cast<const float4*>(&a[d][r0]),
                 y = *reinterpret_cast<const float4*>(&b[d][s]);
    const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int r = r0 + i;
    const float* out = sum[i];
#endif
    if (row0 + r >= length) continue;
    __half* to = score + (head * length + row0 + r) * length + col0 + s;
    if (length % 4 == 0 && col0 + s + 4 <= length) {
      __align__(8) __half2 packed[2] = {__floats2half2_rn(scale * out[0], scale * out[1]),
                                        __floats2half2_rn(scale * out[2], scale * out[3])};
      *reinterpret_cast<uint2*>(to) = *reinterpret_cast<uint2*>(packed);
    } else {
      for (int j = 0; j < 4; ++j)
        if (col0 + s + j < length) to[j] = __float2half(scale * out[j]);
    }
  }
}
extern "C" void solve(const __half* q, const __half* k, __half* score, int heads, int length) {
  products<<<dim3((length + 63) / 64, (length + 63) / 64, heads), 256>>>(q, k, score, length);
}
