// Color quantization: the sums of red, green, blue and the number of the pixels in each of eight
// boxes of colors. Each pixel adds to four counters in shared memory.
// dims: pixels=16777216
// tensor: color uint8 pixels*4 in
// tensor: sums int32 32 out
// without SHARED_ATOMICS: each thread adds in registers, and the warp adds up at the end
// without BYTES, other answers: the pixels of the first few thousand are read again and again
// without ARITHMETIC, other answers: the box of a pixel is in its fourth byte
__global__ void __launch_bounds__(512)
    sum_colors(const uint4* __restrict__ color, unsigned* __restrict__ sums, int quads) {
  __shared__ unsigned own[32];
  if (threadIdx.x < 32) own[threadIdx.x] = 0;
  __syncthreads();
#ifdef WITHOUT_SHARED_ATOMICS
  unsigned red_green[8] = {}, blue_count[8] = {};  // sixteen bits are enough for 257 pixels
#endif
#pragma unroll 1
  for (int i = blockIdx.x * 512 + threadIdx.x; i < quads; i += gridDim.x * 512) {
#ifdef WITHOUT_BYTES
    const uint4 four = color[i & 4095];
#else
    const uint4 four = color[i];
#endif
    const unsigned each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned red = each[k] & 255, green = each[k] >> 8 & 255, blue = each[k] >> 16 & 255;
#ifdef WITHOUT_ARITHMETIC
      const unsigned box = each[k] >> 24 & 7;
#else
      const unsigned box = (3 * red + 6 * green + blue > 1275) << 2 |
                           (red + 5 > green + (blue >> 4)) << 1 | (2 * blue > red + green);
#endif
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
      for (unsigned b = 0; b < 8; ++b)
        if (box == b) {
          red_green[b] += red | green << 16;
          blue_count[b] += blue | 1u << 16;
        }
#else
      atomicAdd(own + 4 * box, red);
      atomicAdd(own + 4 * box + 1, green);
      atomicAdd(own + 4 * box + 2, blue);
      atomicAdd(own + 4 * box + 3, 1u);
#endif
    }
  }
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
  for (int b = 0; b < 8; ++b) {
    const unsigned red = __reduce_add_sync(~0u, red_green[b] & 0xffff);
    const unsigned green = __reduce_add_sync(~0u, red_green[b] >> 16);
    const unsigned blue = __reduce_add_sync(~0u, blue_count[b] & 0xffff);
    const unsigned count = __reduce_add_sync(~0u, blue_count[b] >> 16);
    if (threadIdx.x % 32 == 0) {
      atomicAdd(own + 4 * b, red);
      atomicAdd(own + 4 * b + 1, green);
      atomicAdd(own + 4 * b + 2, blue);
      atomicAdd(own + 4 * b + 3, count);
    }
  }
#endif
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(sums + threadIdx.x, own[threadIdx.x]);
}
extern "C" void solve(const unsigned char* color, int* sums, int pixels) {
  cudaMemsetAsync(sums, 0, 32 * sizeof(int));
  sum_colors<<<528, 512>>>((const uint4*)color, (unsigned*)sums, pixels / 4);
}
