// Mel bands of a spectrogram: frames of 512 bins times a matrix of 512 x 128, both in half
// precision, multiplied by the ordinary units in tiles of 128 x 128.
// dims: frames=65536
// tensor: spectrum float16 frames,512 in
// tensor: filter float16 512,128 in
// tensor: bands float32 frames,128 out
// without SCALAR_PRODUCTS: tensor cores multiply the same tiles
// without BYTES, other answers: all blocks have the first 128 frames
// without BARRIERS, other answers: nobody waits for the tiles
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

#ifdef WITHOUT_BARRIERS
#define TILES_READY() __syncwarp()
#else
#define TILES_READY() __syncthreads()
#endif
#ifdef WITHOUT_SCALAR_PRODUCTS
using Number = half;
#else
using Number = float;
#endif
constexpr int kPitch = 136;

__global__ void __launch_bounds__(256)
    mel(const half* __restrict__ spectrum, const half* __restrict__ filter,
        float* __restrict__ bands) {
#ifdef WITHOUT_SCALAR_PRODUCTS
  __shared__ __align__(128) half a[128 * 40], b[32 * kPitch];
  const int warp = threadIdx.x / 32, high = warp / 2 * 32, wide = warp % 2 * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
#else
  __shared__ __align__(16) float a[32 * kPitch], b[32 * kPitch];
  const int high = threadIdx.x / 16 * 8, wide = threadIdx.x % 16 * 4;
  float sum[8][8] = {};
#endif
#ifdef WITHOUT_BYTES
  const half* frame = spectrum;
#else
  const half* frame = spectrum + size_t(blockIdx.x) * 128 * 512;
#endif
  const int arow = threadIdx.x / 2, acolumn = threadIdx.x % 2 * 16;
  const int brow = threadIdx.x / 8, bcolumn = threadIdx.x % 8 * 16;
#pragma unroll 1
  for (int k = 0; k < 512; k += 32) {
    union {
      uint4 words[2];
      half each[16];
    } left, right;
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      left.words[w] = reinterpret_cast<const uint4*>(frame + arow * 512 + k + acolumn)[w];
      right.words[w] = reinterpret_cast<const uint4*>(filter + (k + brow) * 128 + bcolumn)[w];
    }
    TILES_READY();
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      reinterpret_cast<uint4*>(a + arow * 40 + acolumn)[w] = left.words[w];
      reinterpret_cast<uint4*>(b + brow * kPitch + bcolumn)[w] = right.words[w];
    }
#else
#pragma unroll
    for (int e = 0; e < 16; ++e) a[(acolumn + e) * kPitch + arow] = __half2float(left.each[e]);
#pragma unroll
    for (int e = 0; e < 16; ++e) b[brow * kPitch + bcolumn + e] = __half2float(right.each[e]);
#endif
    TILES_READY();
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
    for (int step = 0; step < 32; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[4];
#pragma unroll
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(x[i], a + (high + 16 * i) * 40 + step, 40);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        wmma::load_matrix_sync(y[j], b + step * kPitch + wide + 16 * j, kPitch);
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) wmma::mma_sync(sum[i][j], x[i], y[j], sum[i][j]);
    }
#else
#pragma unroll 8
    for (int step = 0; step < 32; ++step) {
      float x[8], y[8];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float4 u = *reinterpret_cast<const float4*>(a + step * kPitch + high + 4 * h);
        const float4 v = *reinterpret_cast<const float4*>(b + step * kPitch + wide + 64 * h);
        x[4 * h] = u.x, x[4 * h + 1] = u.y, x[4 * h + 2] = u.z, x[4 * h + 3] = u.w;
        y[4 * h] = v.x, y[4 * h + 1] = v.y, y[4 * h + 2] = v.z, y[4 * h + 3] = v.w;
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
#endif
  }
  float* out = bands + size_t(blockIdx.x) * 128 * 128;
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      wmma::store_matrix_sync(out + (high + 16 * i) * 128 + wide + 16 * j, sum[i][j], 128,
                              wmma::mem_row_major);
#else
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      *reinterpret_cast<float4*>(out + (high + i) * 128 + wide + 64 * h) = {
          sum[i][4 * h], sum[i][4 * h + 1], sum[i][4 * h + 2], sum[i][4 * h + 3]};
#endif
}
extern "C" void solve(const half* spectrum, const half* filter, float* bands, int frames) {
  mel<<<frames / 128, 256>>>(spectrum, filter, bands);
}
