// Wind power density at hub height in each cell of a reanalysis grid, from the two components of
// the wind and the density of the air. Turbines stand still in weak wind and in a storm.
// dims: cells=12582912
// tensor: east float32 cells in
// tensor: north float32 cells in
// tensor: density float32 cells in
// tensor: power float32 cells out
// without BYTES, other answers: the first 4096 cells are read again and again
// without SPECIAL_FUNCTIONS, other answers: no root and no power, the square of the speed is taken
// without DIVERGENCE: standing turbines are sorted out by a choice instead of a branch
__device__ __forceinline__ float power_of(float east, float north, float density) {
  const float square = 60.0f * (east * east + north * north);
  const float air = 1.2f + 0.05f * density;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float cube = square * 8.0f;
#else
  const float speed = sqrtf(square) * __powf(8.0f + 0.1f * fabsf(density), 0.143f);
  const float cube = speed * speed * speed;
#endif
#ifdef WITHOUT_DIVERGENCE
  const float made = 0.5f * air * cube;
  return square < 9.0f || square > 625.0f ? 0.0f : made;
#else
  if (square < 9.0f || square > 625.0f) return 0.0f;
  return 0.5f * air * cube;
#endif
}
__global__ void __launch_bounds__(256)
    wind_power(const float4* __restrict__ east, const float4* __restrict__ north,
               const float4* __restrict__ density, float4* __restrict__ power, int quads) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= quads) return;
#ifdef WITHOUT_BYTES
  const int from = i & 1023;
#else
  const int from = i;
#endif
  const float4 e = east[from], n = north[from], d = density[from];
  power[i] = make_float4(power_of(e.x, n.x, d.x), power_of(e.y, n.y, d.y), power_of(e.z, n.z, d.z),
                         power_of(e.w, n.w, d.w));
}
extern "C" void solve(const float* east, const float* north, const float* density, float* power,
                      int cells) {
  const int quads = cells / 4;
  wind_power<<<(quads + 255) / 256, 256>>>(
      reinterpret_cast<const float4*>(east), reinterpret_cast<const float4*>(north),
      reinterpret_cast<const float4*>(density), reinterpret_cast<float4*>(power), quads);
}
