// Filters radar echoes along the track: an output is a weighted sum of the echoes of 32 lines at
// the same range. The weights are known to the compiler.
// dims: lines=4096 cells=2048 taps=32
// tensor: echoes float32 lines+taps,cells in
// tensor: filtered float32 lines,cells out
// without REPEATED_READS: a thread has eight lines, an echo it has read serves all of them
// without NARROW_ACCESS: a thread has four cells of a line and reads 16 bytes at once
// without DEPENDENCE: four sums instead of one
constexpr int kTaps = 32;
__device__ __forceinline__ float weight(int tap) {
  return 1.0f / (3.0f + (tap - 15.5f) * (tap - 15.5f));
}
__global__ void __launch_bounds__(256)
    filter(const float* __restrict__ echoes, float* __restrict__ filtered, int cells) {
#ifdef WITHOUT_REPEATED_READS
  const int cell = blockIdx.x * 256 + threadIdx.x, line = blockIdx.y * 8;
  if (cell >= cells) return;
  const float* from = echoes + size_t(line) * cells + cell;
  float sum[8] = {};
#pragma unroll
  for (int row = 0; row < kTaps + 7; ++row) {
    const float echo = from[size_t(row) * cells];
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (row - k >= 0 && row - k < kTaps) sum[k] += weight(row - k) * echo;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) filtered[size_t(line + k) * cells + cell] = sum[k];
#elif defined(WITHOUT_NARROW_ACCESS)
  const int cell = (blockIdx.x * 256 + threadIdx.x) * 4, line = blockIdx.y;
  if (cell >= cells) return;
  const float* from = echoes + size_t(line) * cells + cell;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    const float4 echo = *reinterpret_cast<const float4*>(from + size_t(tap) * cells);
    sum.x += weight(tap) * echo.x;
    sum.y += weight(tap) * echo.y;
    sum.z += weight(tap) * echo.z;
    sum.w += weight(tap) * echo.w;
  }
  *reinterpret_cast<float4*>(filtered + size_t(line) * cells + cell) = sum;
#else
  const int cell = blockIdx.x * 256 + threadIdx.x, line = blockIdx.y;
  if (cell >= cells) return;
  const float* from = echoes + size_t(line) * cells + cell;
#ifdef WITHOUT_DEPENDENCE
  float sum[4] = {};
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) sum[tap % 4] += weight(tap) * from[size_t(tap) * cells];
  filtered[size_t(line) * cells + cell] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
#else
  float sum = 0.0f;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) sum += weight(tap) * from[size_t(tap) * cells];
  filtered[size_t(line) * cells + cell] = sum;
#endif
#endif
}
extern "C" void solve(const float* echoes, float* filtered, int lines, int cells) {
#ifdef WITHOUT_REPEATED_READS
  const dim3 blocks((cells + 255) / 256, lines / 8);
#elif defined(WITHOUT_NARROW_ACCESS)
  const dim3 blocks((cells / 4 + 255) / 256, lines);
#else
  const dim3 blocks((cells + 255) / 256, lines);
#endif
  filter<<<blocks, 256>>>(echoes, filtered, cells);
}
