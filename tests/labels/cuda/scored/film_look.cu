// Gives photographs the look of a film by a color cube of 33 x 33 x 33 entries, which each block
// keeps in shared memory. A pixel is a word of four bytes.
// dims: pixels=8388608 entries=35937
// tensor: photo uint32 pixels in
// tensor: cube uint32 entries in
// tensor: film uint32 pixels out
// without LOW_OCCUPANCY: 1024 instead of 128 threads share a cube
// without BANK_CONFLICTS, other answers: each lane looks up entries in a bank of its own
// without BYTES, other answers: the first 4096 pixels are read again and again
#ifdef WITHOUT_LOW_OCCUPANCY
constexpr int kThreads = 1024;
#else
constexpr int kThreads = 128;
#endif
__global__ void __launch_bounds__(kThreads)
    develop(const unsigned* __restrict__ photo, const unsigned* __restrict__ cube,
            unsigned* __restrict__ film, int pixels, int entries) {
  extern __shared__ unsigned near[];
#pragma unroll 8
  for (int e = threadIdx.x; e < entries; e += kThreads) near[e] = cube[e];
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < pixels; i += gridDim.x * kThreads) {
#ifdef WITHOUT_BYTES
    const unsigned pixel = photo[i & 4095];
#else
    const unsigned pixel = photo[i];
#endif
    const unsigned red = (pixel & 255) + 4 >> 3, green = (pixel >> 8 & 255) + 4 >> 3;
    const unsigned blue = (pixel >> 16 & 255) + 4 >> 3;
    unsigned at = (blue * 33 + green) * 33 + red;
#ifdef WITHOUT_BANK_CONFLICTS
    at = min(at & ~31u, 35904u - 32u) + threadIdx.x % 32;
#endif
    film[i] = (near[at] & 0xffffff) | (pixel & 0xff000000u);
  }
}
extern "C" void solve(const unsigned* photo, const unsigned* cube, unsigned* film, int pixels,
                      int entries) {
  const int bytes = entries * 4;
  cudaFuncSetAttribute(develop, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  develop<<<132, kThreads, bytes>>>(photo, cube, film, pixels, entries);
}
