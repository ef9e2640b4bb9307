// Heights of the levels of an atmosphere from the temperature and humidity of the layers below, a
// thread a column; the fields hold column after column.
// dims: columns=65536 levels=64
// tensor: temperature float32 columns,levels in
// tensor: humidity float32 columns,levels in
// tensor: height float32 columns,levels out
// without STRIDED_ACCESS, other answers: the fields hold level after level
// without SPECIAL_FUNCTIONS, other answers: the ratio of the pressures is taken for its logarithm
// without DEPENDENCE, other answers: the thickness of the layers, which are not added up
__global__ void __launch_bounds__(128)
    integrate(const float* __restrict__ temperature, const float* __restrict__ humidity,
              float* __restrict__ height, int columns, int levels) {
  const int column = blockIdx.x * 128 + threadIdx.x;
  if (column >= columns) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const size_t first = column, step = columns;
#else
  const size_t first = size_t(column) * levels, step = 1;
#endif
  float z = 0;
#pragma unroll 1
  for (int level = 0; level < levels; level += 8) {
    float t[8], q[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const size_t at = first + (level + k) * step;
      t[k] = temperature[at];
      q[k] = humidity[at];
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float ratio = 1.02f + 0.004f * q[k] * q[k];
#ifdef WITHOUT_SPECIAL_FUNCTIONS
      const float exponent = ratio - 1;
#else
      const float exponent = __logf(ratio);
#endif
      const float layer = 29.27f * (280 + 10 * t[k]) * (1 + 0.01f * q[k]) * exponent;
#ifdef WITHOUT_DEPENDENCE
      z = layer;
#else
      z += layer;
#endif
      height[first + (level + k) * step] = z;
    }
  }
}
extern "C" void solve(const float* temperature, const float* humidity, float* height, int columns,
                      int levels) {
  integrate<<<(columns + 127) / 128, 128>>>(temperature, humidity, height, columns, levels);
}
