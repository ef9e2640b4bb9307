// Renders the Mandelbrot set: counts up to twelve steps until each point of a square escapes.
// dims: side=4096
// tensor: corner float32 2 in
// tensor: image uint8 side*side out
// without GLOBAL_ATOMICS: each warp knows its tiles beforehand, it draws no ticket for each
// without DIVERGENCE: every lane does all twelve steps, none leaves the loop early
__device__ unsigned next_tile;
__global__ void escape_tiles(const float* __restrict__ corner, unsigned char* __restrict__ image,
                             int side) {
  const unsigned lane = threadIdx.x % 32, tiles = unsigned(side) * unsigned(side) / 32;
  const float left = -2 + 1e-3f * corner[0], top = -1.5f + 1e-3f * corner[1], scale = 3.0f / side;
#ifdef WITHOUT_GLOBAL_ATOMICS
  const unsigned warps = gridDim.x * blockDim.x / 32;
  for (unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32; tile < tiles; tile += warps) {
#else
  for (;;) {
    unsigned tile = 0;
    if (lane == 0) tile = atomicAdd(&next_tile, 1u);
    tile = __shfl_sync(~0u, tile, 0);
    if (tile >= tiles) break;
#endif
    const unsigned pixel = tile * 32 + lane;
    const float cx = __fmaf_rn(scale, float(pixel % side), left);
    const float cy = __fmaf_rn(scale, float(pixel / side), top);
    float x = 0, y = 0;
    int count = 0;
    bool inside = true;
#ifdef WITHOUT_DIVERGENCE
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int step = 0; step < 12; ++step) {
      const float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
      inside = inside && __fadd_rn(xx, yy) <= 4;
#ifndef WITHOUT_DIVERGENCE
      if (!inside) break;
#endif
      count += inside;
      y = __fmaf_rn(__fadd_rn(x, x), y, cy);
      x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    image[pixel] = static_cast<unsigned char>(count * 21);
  }
}
extern "C" void solve(const float* corner, unsigned char* image, int side) {
  void* counter;
  cudaGetSymbolAddress(&counter, next_tile);
  cudaMemsetAsync(counter, 0, sizeof(unsigned));
  escape_tiles<<<1056, 256>>>(corner, image, side);
}
