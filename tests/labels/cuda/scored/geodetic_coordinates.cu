// Latitude and height of satellites above the ellipsoid of the Earth from Cartesian positions, by
// six fixed-point steps for each position. The unit of length is the radius at the equator.
// dims: points=1048576
// tensor: positions float64 3,points in
// tensor: sine float64 points out
// tensor: height float64 points out
// without DOUBLE_PRECISION, other answers: the steps are computed in single precision
// without BYTES, other answers: the first 4096 positions are read again and again
// without SPECIAL_FUNCTIONS, other answers: no roots and no divisions
#ifdef WITHOUT_DOUBLE_PRECISION
using Real = float;
#else
using Real = double;
#endif
__global__ void __launch_bounds__(256)
    geodetic(const double* __restrict__ positions, double* __restrict__ sine,
             double* __restrict__ height, int points) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= points) return;
#ifdef WITHOUT_BYTES
  const int from = i & 4095;
#else
  const int from = i;
#endif
  const Real x = positions[from], y = positions[points + from], z = positions[2 * points + from];
  const Real eccentric = Real(0.00669437999014);
  const Real flat = x * x + y * y + Real(0.25);
  Real shift = eccentric * z, normal = 1, s = 0;
#pragma unroll 1
  for (int k = 0; k < 6; ++k) {
    const Real up = z + shift;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    s = up * (Real(1.2) - Real(0.25) * (flat + up * up));
    normal = 1 + Real(0.5) * eccentric * s * s;
#else
    s = up / sqrt(flat + up * up);
    normal = 1 / sqrt(1 - eccentric * s * s);
#endif
    shift = normal * eccentric * s;
  }
  const Real up = z + shift;
  sine[i] = s;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  height[i] = flat + up * up - normal;
#else
  height[i] = sqrt(flat + up * up) - normal;
#endif
}
extern "C" void solve(const double* positions, double* sine, double* height, int points) {
  geodetic<<<(points + 255) / 256, 256>>>(positions, sine, height, points);
}
