// An epidemic in cities of 32 districts, a city a warp. On most days a district takes one step; a
// city with an outbreak takes 24 smaller ones. Travelers change cities on every 32nd day.
// dims: cities=4224 days=512
// tensor: infected float32 cities*32 in
// tensor: immune float32 cities*32 out
// without BARRIERS: the warps of a block wait for each other only when travelers change cities
// without SPECIAL_FUNCTIONS, other answers: the contacts of a day are linear in the infected
// without DIVERGENCE: the lockdown of a district is a choice instead of a branch
__device__ __forceinline__ void spread(float& sick, float& safe, float step) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  float caught = 0.8f * sick;
#else
  float caught = 1.0f - __expf(-0.8f * sick);
#endif
#ifdef WITHOUT_DIVERGENCE
  caught = sick > 0.2f ? 0.25f * caught : caught;
#else
  if (sick > 0.2f) caught *= 0.25f;
#endif
  const float open = fmaxf(1.0f - sick - safe, 0.0f);
  const float healed = 0.1f * step * sick;
  sick += step * caught * open - healed;
  safe += healed - 0.02f * step * safe;
}
__global__ void __launch_bounds__(512)
    simulate(const float* __restrict__ infected, float* __restrict__ immune, int days) {
  __shared__ float travelers[16];
  const int i = blockIdx.x * 512 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned city = i / 32;
  float sick = 0.01f + 0.02f * fminf(fabsf(infected[i]), 3.0f), safe = 0.0f;
#pragma unroll 1
  for (int day = 1; day <= days; ++day) {
    unsigned chance = (city * 0xc2b2ae35u ^ day * 0x27d4eb2fu) * 0x85ebca6bu;
    chance = (chance ^ chance >> 15) * 0x2c1b3c6du;
    if ((chance >> 20 & 7) == 0) {
#pragma unroll 1
      for (int k = 0; k < 24; ++k) spread(sick, safe, 1.0f / 24.0f);
    } else {
      spread(sick, safe, 1.0f);
    }
    if (day % 32 == 0) {
      if (lane == 0) travelers[warp] = sick;
      __syncthreads();
      if (lane == 31) sick = 0.9f * sick + 0.1f * travelers[(warp + 1) & 15];
      __syncthreads();
    } else {
#ifndef WITHOUT_BARRIERS
      __syncthreads();
#endif
    }
  }
  immune[i] = safe;
}
extern "C" void solve(const float* infected, float* immune, int cities, int days) {
  simulate<<<cities / 16, 512>>>(infected, immune, days);
}
