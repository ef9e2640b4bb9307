// Sums the rows of a half-precision embedding table that each bag of 64 hashed features selects.
// dims: rows=262144 bags=2112 width=128
// tensor: table float16 rows,width in
// tensor: seeds int32 bags in
// tensor: y float32 bags,width out
// without SERIAL_LOADS: loads 16 rows before it adds them
// without RANDOM_ACCESS, other answers: the rows of a bag are neighbors in the table
#include <cuda_fp16.h>
#ifdef WITHOUT_SERIAL_LOADS
constexpr int kAtOnce = 16;
#else
constexpr int kAtOnce = 1;
#endif

__device__ int row_of(unsigned seed, int bag, int feature, int rows) {
  unsigned hash = (seed + bag * 64 + feature) * 0x9e3779b9u;
  hash = (hash ^ hash >> 15) * 0x85ebca6bu;
#ifdef WITHOUT_RANDOM_ACCESS
  hash = (hash & 1) + bag * 64 + feature;
#endif
  return hash & (rows - 1);
}

__global__ void __launch_bounds__(128, 4)
    sum_bags(const uint2* __restrict__ table, const int* __restrict__ seeds, float4* __restrict__ y,
             int rows, int bags) {
  const int bag = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (bag >= bags) return;
  const unsigned seed = seeds[bag];
  float4 sum = {};
#pragma unroll 1
  for (int first = 0; first < 64; first += kAtOnce) {
    uint2 fours[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      fours[k] = table[row_of(seed, bag, first + k, rows) * 32 + lane];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const float2 a = __half22float2(reinterpret_cast<const __half2&>(fours[k].x));
      const float2 b = __half22float2(reinterpret_cast<const __half2&>(fours[k].y));
      sum.x += a.x;
      sum.y += a.y;
      sum.z += b.x;
      sum.w += b.y;
    }
  }
  y[bag * 32 + lane] = sum;
}

extern "C" void solve(const __half* table, const int* seeds, float* y, int rows, int bags,
                      int width) {
  sum_bags<<<(bags + 3) / 4, 128>>>(reinterpret_cast<const uint2*>(table), seeds,
                                    reinterpret_cast<float4*>(y), rows, bags);
}
