// Yield of fisheries over 8192 seasons: a stock grows logistically, and a share of it that depends
// on its size is caught in each season. A thread follows a fishery.
// dims: fisheries=16896 seasons=8192
// tensor: growth float32 fisheries in
// tensor: stock float32 fisheries in
// tensor: yields float32 fisheries out
// without DEPENDENCE, other answers: four stocks in turn, each for a quarter of the seasons
// without DIVERGENCE: the ban below a smallest stock is a choice instead of a branch
// without ARITHMETIC, other answers: the catch is a constant share, and never banned
__device__ __forceinline__ void season(float& size, float rate, float& caught) {
#ifdef WITHOUT_ARITHMETIC
  const float share = 0.1f;
#else
  float share = 0.05f + 0.1f * size;
#ifdef WITHOUT_DIVERGENCE
  share = size < 0.3f ? 0.0f : share;
#else
  if (size < 0.3f) share = 0.0f;
#endif
#endif
  const float catches = share * size;
  caught += catches;
  size += rate * size * (1.0f - size) - catches;
}
__global__ void __launch_bounds__(128)
    fish(const float* __restrict__ growth, const float* __restrict__ stock,
         float* __restrict__ yields, int fisheries, int seasons) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= fisheries) return;
  const float rate = 0.2f + 0.1f * fminf(fabsf(growth[i]), 3.0f);
  const float start = 0.1f + 0.2f * fminf(fabsf(stock[i]), 3.0f);
#ifdef WITHOUT_DEPENDENCE
  float size[4] = {start, start + 0.01f, start + 0.02f, start + 0.03f}, caught[4] = {};
#pragma unroll 4
  for (int k = 0; k < seasons; k += 4)
#pragma unroll
    for (int s = 0; s < 4; ++s) season(size[s], rate, caught[s]);
  yields[i] = (caught[0] + caught[1]) + (caught[2] + caught[3]);
#else
  float size = start, caught = 0.0f;
#pragma unroll 16
  for (int k = 0; k < seasons; ++k) season(size, rate, caught);
  yields[i] = caught;
#endif
}
extern "C" void solve(const float* growth, const float* stock, float* yields, int fisheries,
                      int seasons) {
  fish<<<(fisheries + 127) / 128, 128>>>(growth, stock, yields, fisheries, seasons);
}
