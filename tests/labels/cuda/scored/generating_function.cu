// Generating function of a distribution: a polynomial with 16384 coefficients at many places, by
// Horner's rule, so that each product waits for the one before.
// dims: places=33792 terms=16384
// tensor: place float32 places in
// tensor: coefficient float32 terms in
// tensor: value float32 places out
// without DEPENDENCE: four polynomials in the fourth power of the place take turns
// without BARRIERS, other answers: only the first part of the coefficients is used, again and again
// without SHARED_TRAFFIC, other answers: one coefficient is fetched for sixteen terms
__global__ void __launch_bounds__(256)
    evaluate(const float* __restrict__ place, const float* __restrict__ coefficient,
             float* __restrict__ value, int places, int terms) {
  constexpr int kPart = 2048;
  __shared__ float4 part[kPart / 4];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float given = i < places ? place[i] : 0.0f;
  const float x = 0.98f * given / (1.0f + fabsf(given));
#ifdef WITHOUT_DEPENDENCE
  const float square = x * x, fourth = square * square;
  float a = 0, b = 0, c = 0, d = 0;
#else
  float sum = 0;
#endif
#ifdef WITHOUT_BARRIERS
  for (int k = threadIdx.x; k < kPart / 4; k += 256)
    part[k] = reinterpret_cast<const float4*>(coefficient)[k];
  __syncthreads();
#endif
#pragma unroll 1
  for (int from = 0; from < terms; from += kPart) {
#ifndef WITHOUT_BARRIERS
    __syncthreads();
    for (int k = threadIdx.x; k < kPart / 4; k += 256)
      part[k] = reinterpret_cast<const float4*>(coefficient + from)[k];
    __syncthreads();
#endif
#pragma unroll 16
    for (int k = 0; k < kPart / 4; ++k) {
#ifdef WITHOUT_SHARED_TRAFFIC
      const float one = part[k / 4].x;
      const float4 four = {one, one, one, one};
#else
      const float4 four = part[k];
#endif
#ifdef WITHOUT_DEPENDENCE
      a = a * fourth + four.x;
      b = b * fourth + four.y;
      c = c * fourth + four.z;
      d = d * fourth + four.w;
#else
      sum = sum * x + four.x;
      sum = sum * x + four.y;
      sum = sum * x + four.z;
      sum = sum * x + four.w;
#endif
    }
  }
#ifdef WITHOUT_DEPENDENCE
  const float sum = (a * x + b) * square + (c * x + d);
#endif
  if (i < places) value[i] = sum;
}
extern "C" void solve(const float* place, const float* coefficient, float* value, int places,
                      int terms) {
  evaluate<<<(places + 255) / 256, 256>>>(place, coefficient, value, places, terms);
}
