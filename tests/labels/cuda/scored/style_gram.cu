// Gram matrices of the channels of each image, as in style losses, with float sums.
// dims: images=16 channels=256 pixels=1024
// tensor: x float16 images,channels,pixels in
// tensor: y float32 images,channels,channels out
// without SCALAR_PRODUCTS: the tensor cores multiply the tiles
// without BARRIERS: takes 128 pixels at a time, so that it waits half as often
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#ifdef WITHOUT_BARRIERS
constexpr int kDepth = 128;
#else
constexpr int kDepth = 64;
#endif
#ifdef WITHOUT_SCALAR_PRODUCTS
constexpr int kPitch = kDepth + 8;
#else
constexpr int kPitch = kDepth + 2;
#endif

__global__ void __launch_bounds__(256)
    gram(const __half2* __restrict__ x, float* __restrict__ y, int channels, int pixels) {
  __shared__ __align__(32) __half left[64][kPitch], right[64][kPitch];
  const int row = blockIdx.y * 64, col = blockIdx.x * 64;
  x += blockIdx.z * channels * pixels / 2;
  y += blockIdx.z * channels * channels;
#ifdef WITHOUT_SCALAR_PRODUCTS
  const int down = threadIdx.x / 64 * 16, across = threadIdx.x / 32 % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2];
  wmma::fill_fragment(sums[0], 0);
  wmma::fill_fragment(sums[1], 0);
#else
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sums[4][4] = {};
#endif
  for (int first = 0; first < pixels; first += kDepth) {
#pragma unroll 8
    for (int i = threadIdx.x; i < 32 * kDepth; i += 256) {
      const int channel = i / (kDepth / 2), pair = i % (kDepth / 2);
      const __half2* from = x + (first / 2 + pair);
      reinterpret_cast<__half2*>(left[channel])[pair] = from[(row + channel) * (pixels / 2)];
      reinterpret_cast<__half2*>(right[channel])[pair] = from[(col + channel) * (pixels / 2)];
    }
    __syncthreads();
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
    for (int depth = 0; depth < kDepth; depth += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
      wmma::load_matrix_sync(a, &left[down][depth], kPitch);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        wmma::load_matrix_sync(b, &right[across + 16 * k][depth], kPitch);
        wmma::mma_sync(sums[k], a, b, sums[k]);
      }
    }
#else
#pragma unroll 8
    for (int pair = 0; pair < kDepth / 2; ++pair) {
      float2 mine[4];
#pragma unroll
      for (int c = 0; c < 4; ++c)
        mine[c] = __half22float2(reinterpret_cast<__half2*>(right[c * 16 + tx])[pair]);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float2 other = __half22float2(reinterpret_cast<__half2*>(left[r * 16 + ty])[pair]);
#pragma unroll
        for (int c = 0; c < 4; ++c) sums[r][c] += other.x * mine[c].x + other.y * mine[c].y;
      }
    }
#endif
    __syncthreads();
  }
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
  for (int k = 0; k < 2; ++k) {
#pragma unroll
    for (int i = 0; i < sums[k].num_elements; ++i) sums[k].x[i] *= 0.03125f;
    wmma::store_matrix_sync(y + (row + down) * channels + col + across + 16 * k, sums[k], channels,
                            wmma::mem_row_major);
  }
#else
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < 4; ++c)
      y[(row + r * 16 + ty) * channels + col + c * 16 + tx] = sums[r][c] * 0.03125f;
#endif
}

extern "C" void solve(const __half* x, float* y, int images, int channels, int pixels) {
  gram<<<dim3(channels / 64, channels / 64, images), 256>>>(reinterpret_cast<const __half2*>(x), y,
                                                            channels, pixels);
}
