// Distance of each body from its star: solves Kepler's equation by six Newton steps.
// dims: n=1048576
// tensor: orbit float32 n*4 in
// tensor: radius float32 n out
// without DOUBLE_PRECISION: the same steps in float32, which the result is rounded to anyway
// without STRIDED_ACCESS, other answers: the three elements lie in three arrays, not in records
#ifdef WITHOUT_DOUBLE_PRECISION
using real = float;
__device__ void both(float angle, float* s, float* c) {
  sincosf(angle, s, c);
}
#else
using real = double;
__device__ void both(double angle, double* s, double* c) {
  sincos(angle, s, c);
}
#endif
__global__ void kepler_radius(const float* __restrict__ orbit, float* __restrict__ radius, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const float first = orbit[i], second = orbit[n + i], third = orbit[2 * n + i];
#else
  const float first = orbit[4 * i], second = orbit[4 * i + 1], third = orbit[4 * i + 2];
#endif
  const real mean = 2 * real(first), square = real(second) * second;
  const real eccentricity = real(0.6f) * square / (1 + square), axis = 2 + real(0.1f) * third;
  real anomaly = mean, s, c;
  for (int step = 0; step < 6; ++step) {
    both(anomaly, &s, &c);
    anomaly -= (anomaly - eccentricity * s - mean) / (1 - eccentricity * c);
  }
  both(anomaly, &s, &c);
  radius[i] = float(axis * (1 - eccentricity * c));
}
extern "C" void solve(const float* orbit, float* radius, int n) {
  kepler_radius<<<(n + 255) / 256, 256>>>(orbit, radius, n);
}
