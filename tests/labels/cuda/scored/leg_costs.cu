// What the routes of shipments cost: each visits five stops, and a table has the cost of each leg.
// dims: shipments=1048576 stops=8192
// tensor: routes int32 shipments*5 in permutation
// tensor: table float16 stops,stops in
// tensor: costs float32 shipments out
// without RANDOM_ACCESS, other answers: neighboring shipments look up neighboring entries
// without STRIDED_ACCESS, other answers: all first stops are stored together, then all second ones …
// without DIVERGENCE: the surcharge of expensive legs is selected, not computed in a branch
#include <cuda_fp16.h>
__global__ void __launch_bounds__(256)
    price(const int* __restrict__ routes, const __half* __restrict__ table,
          float* __restrict__ costs, int shipments, int stops) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= shipments) return;
  int stop[5];
#pragma unroll
  for (int k = 0; k < 5; ++k) {
#ifdef WITHOUT_STRIDED_ACCESS
    stop[k] = routes[size_t(k) * shipments + i];
#else
    stop[k] = routes[size_t(i) * 5 + k];
#endif
  }
  float leg[4], sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#ifdef WITHOUT_RANDOM_ACCESS
    // Both signs are clear.
    const unsigned mine = unsigned(k * shipments + i) + (unsigned(stop[k] | stop[k + 1]) >> 31);
    const unsigned from = mine / stops & (stops - 1), to = mine & (stops - 1);
#else
    const unsigned from = stop[k] & (stops - 1), to = stop[k + 1] & (stops - 1);
#endif
    leg[k] = __half2float(table[size_t(from) * stops + to]);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#ifdef WITHOUT_DIVERGENCE
    const float extra = 0.25f * leg[k] * leg[k];
    sum += leg[k] + (leg[k] > 1 ? extra : 0);
#else
    sum += leg[k];
    if (leg[k] > 1) sum += 0.25f * leg[k] * leg[k];
#endif
  }
  costs[i] = sum;
}
extern "C" void solve(const int* routes, const __half* table, float* costs, int shipments,
                      int stops) {
  price<<<(shipments + 255) / 256, 256>>>(routes, table, costs, shipments, stops);
}
