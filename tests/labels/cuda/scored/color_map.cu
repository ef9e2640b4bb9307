// Colors a scalar field by a map of 256 colors, between two of which it interpolates; the map lies
// in constant memory.
// dims: cells=8388608
// tensor: field float32 cells in
// tensor: color int32 cells out
// without CONSTANT_CACHE: the map is copied to shared memory
// without ARITHMETIC, other answers: does not interpolate, but adds both colors
// without BYTES, other answers: the first few thousand cells are read again and again
struct Map {
  unsigned of[257];
  constexpr Map() : of() {
    for (unsigned i = 0; i < 257; ++i) {
      const unsigned v = i < 256 ? i : 255;
      of[i] = 0xff000000u | (v * v >> 8) << 16 | (255 - v) << 8 | (v < 128 ? 2 * v : 510 - 2 * v);
    }
  }
};
__constant__ constexpr Map kMap;

__global__ void __launch_bounds__(256)
    color_cells(const float* __restrict__ field, int* __restrict__ color, int cells) {
#ifdef WITHOUT_CONSTANT_CACHE
  __shared__ unsigned map[257];
  for (int k = threadIdx.x; k < 257; k += 256) map[k] = kMap.of[k];
  __syncthreads();
#else
  const unsigned* map = kMap.of;
#endif
#pragma unroll 2
  for (int i = blockIdx.x * 256 + threadIdx.x; i < cells; i += gridDim.x * 256) {
#ifdef WITHOUT_BYTES
    const float value = field[i & 8191];
#else
    const float value = field[i];
#endif
    const unsigned place = unsigned(fminf(fabsf(value), 1000.0f) * 60000.0f) & 65535;
    const unsigned low = map[place >> 8], high = map[(place >> 8) + 1];
#ifdef WITHOUT_ARITHMETIC
    color[i] = low + high;
#else
    const unsigned part = place & 255, rest = 256 - part;
    const unsigned even = ((low & 0xff00ff) * rest + (high & 0xff00ff) * part) >> 8 & 0xff00ff;
    const unsigned odd =
        ((low >> 8 & 0xff00ff) * rest + (high >> 8 & 0xff00ff) * part) & 0xff00ff00;
    color[i] = even | odd;
#endif
  }
}
extern "C" void solve(const float* field, int* color, int cells) {
  color_cells<<<1056, 256>>>(field, color, cells);
}
