// Solves many tridiagonal systems with a thread each: the lanes of a warp walk along rows that
// are far apart.
// dims: systems=65536 size=64
// tensor: lower float32 systems,size in
// tensor: diagonal float32 systems,size in
// tensor: upper float32 systems,size in
// tensor: right float32 systems,size in
// tensor: ratio float32 systems,size out
// tensor: x float32 systems,size out
// without STRIDED_ACCESS, other answers: the systems are interleaved, so the lanes touch neighbors
// without SPECIAL_FUNCTIONS: an approximate reciprocal
// without LAUNCHES: scratch is not cleared beforehand
__device__ __forceinline__ size_t at(int s, int i, int systems, int size) {
#ifdef WITHOUT_STRIDED_ACCESS
  return size_t(i) * systems + s;
#else
  return size_t(s) * size + i;
#endif
}
__global__ void __launch_bounds__(128)
    thomas(const float* __restrict__ lower, const float* __restrict__ diagonal,
           const float* __restrict__ upper, const float* __restrict__ right,
           float* __restrict__ ratio, float* __restrict__ x, int systems, int size) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float r = 0, d = 0;
#pragma unroll 4
  for (int i = 0; i < size; ++i) {
    const size_t p = at(s, i, systems, size);
    const float a = i ? lower[p] : 0.0f, c = upper[p];
    // Made dominant, so that no pivot vanishes.
    const float b = 1.0f + fabsf(diagonal[p]) + fabsf(a) + fabsf(c);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float inverse = __fdividef(1.0f, b - a * r);
#else
    const float inverse = 1.0f / (b - a * r);
#endif
    r = c * inverse;
    d = (right[p] - a * d) * inverse;
    ratio[p] = r;
    x[p] = d;
  }
  float v = 0;
#pragma unroll 4
  for (int i = size - 1; i >= 0; --i) {
    const size_t p = at(s, i, systems, size);
    v = x[p] - ratio[p] * v;
    x[p] = v;
  }
}
extern "C" void solve(const float* lower, const float* diagonal, const float* upper,
                      const float* right, float* ratio, float* x, int systems, int size) {
#ifndef WITHOUT_LAUNCHES
  cudaMemsetAsync(ratio, 0, 4);
#endif
  thomas<<<(systems + 127) / 128, 128>>>(lower, diagonal, upper, right, ratio, x, systems, size);
}
