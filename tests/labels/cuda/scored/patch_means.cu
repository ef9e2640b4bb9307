// Mean and energy of the 16x16 patches of images; the copy engine brings each row of a patch,
// 16 bytes, by a copy of its own.
// dims: images=64 down=64 across=64
// tensor: x uint8 images,down,16,across,16 in
// tensor: mean float32 images,down,across out
// tensor: energy float32 images,down,across out
// without SMALL_COPIES: the threads copy the rows themselves
// without BARRIERS: no block-wide barrier before the results
// without SPECIAL_FUNCTIONS, other answers: the energy without its root
#include <cstdint>
__device__ __forceinline__ unsigned address(const void* p) {
  return unsigned(__cvta_generic_to_shared(p));
}
__global__ void __launch_bounds__(256)
    patches(const unsigned char* __restrict__ x, float* __restrict__ mean,
            float* __restrict__ energy, int down, int across) {
  __shared__ __align__(128) unsigned char tile[64][16][16];
#ifndef WITHOUT_SMALL_COPIES
  __shared__ __align__(8) unsigned long long arrived;
#endif
  const int first = blockIdx.x * 64, count = min(64, across - first), width = 16 * across;
  const unsigned char* strip = x + (size_t(blockIdx.z) * down + blockIdx.y) * 16 * width;
#ifdef WITHOUT_SMALL_COPIES
  for (int i = threadIdx.x; i < 64 * 16; i += 256) {
    const int patch = i % 64, r = i / 64;
    if (patch < count)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(tile[patch][r])),
                   "l"(strip + size_t(r) * width + (first + patch) * 16)
                   : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
#else
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&arrived)),
                 "r"(count * 256)
                 : "memory");
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 64 * 16; i += 256) {
    const int patch = i % 64, r = i / 64;
    if (patch < count)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, "
          "[%2];" ::"r"(address(tile[patch][r])),
          "l"(strip + size_t(r) * width + (first + patch) * 16), "r"(address(&arrived))
          : "memory");
  }
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(done)
        : "r"(address(&arrived))
        : "memory");
#endif
  // Sixteen lanes to a patch, one row each.
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int patch = threadIdx.x / 16 + 16 * k;
    unsigned sum = 0, squares = 0;
    if (patch < count) {
      const uint4 row = *reinterpret_cast<const uint4*>(tile[patch][threadIdx.x % 16]);
      const unsigned words[4] = {row.x, row.y, row.z, row.w};
      for (int w = 0; w < 4; ++w) {
        sum = __dp4a(words[w], 0x01010101u, sum);
        squares = __dp4a(words[w], words[w], squares);
      }
    }
    for (int lanes = 8; lanes; lanes /= 2) {
      sum += __shfl_xor_sync(~0u, sum, lanes);
      squares += __shfl_xor_sync(~0u, squares, lanes);
    }
#ifndef WITHOUT_BARRIERS
    __syncthreads();
#endif
    if (patch < count && threadIdx.x % 16 == 0) {
      const size_t at = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * across + first + patch;
      mean[at] = sum / 256.0f;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
      energy[at] = squares / 256.0f;
#else
      energy[at] = sqrtf(squares / 256.0f);
#endif
    }
  }
}
extern "C" void solve(const unsigned char* x, float* mean, float* energy, int images, int down,
                      int across) {
  patches<<<dim3((across + 63) / 64, down, images), 256>>>(x, mean, energy, down, across);
}
