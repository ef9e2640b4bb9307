// Radiative flux through the cells of a furnace, summed over the eight octants of the directions.
// A warp has a cell; the intensity in an octant takes 48 steps through the gas.
// dims: cells=131072
// tensor: wall float32 cells,8 in
// tensor: flux float32 cells out
// without IDLE_LANES: a warp has four cells, each of them on eight lanes
// without SPECIAL_FUNCTIONS, other answers: the emission of the gas is a parabola
// without DEPENDENCE, other answers: the steps do not build on each other, but are added up
__global__ void __launch_bounds__(256)
    octants(const float* __restrict__ wall, float* __restrict__ flux, int cells) {
  const int thread = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_IDLE_LANES
  const int cell = thread / 8, octant = thread % 8;
#else
  const int cell = thread / 32, octant = thread % 32;
#endif
  if (cell >= cells) return;
  float intensity = 0.0f;
  if (octant < 8) {
    const float incoming = fabsf(wall[cell * 8 + octant]);
    intensity = incoming;
#ifdef WITHOUT_DEPENDENCE
    float sum = 0.0f;
#endif
#pragma unroll 4
    for (int step = 0; step < 48; ++step) {
      const float depth = 0.02f * (step + 1 + octant);
#ifdef WITHOUT_DEPENDENCE
      const float before = incoming + depth;
#else
      const float before = intensity;
#endif
#ifdef WITHOUT_SPECIAL_FUNCTIONS
      const float emitted = 1.0f - before * (0.5f - 0.1f * before);
#else
      const float emitted = __expf(-0.5f * before);
#endif
      const float after = before + depth * (0.3f * emitted - 0.1f * before);
#ifdef WITHOUT_DEPENDENCE
      sum += after;
#else
      intensity = after;
#endif
    }
#ifdef WITHOUT_DEPENDENCE
    intensity = sum * (1.0f / 48.0f);
#endif
  }
#pragma unroll
  for (int apart = 4; apart > 0; apart >>= 1) intensity += __shfl_xor_sync(~0u, intensity, apart);
  if (octant == 0) flux[cell] = intensity;
}
extern "C" void solve(const float* wall, float* flux, int cells) {
#ifdef WITHOUT_IDLE_LANES
  octants<<<cells / 32, 256>>>(wall, flux, cells);
#else
  octants<<<cells / 8, 256>>>(wall, flux, cells);
#endif
}
