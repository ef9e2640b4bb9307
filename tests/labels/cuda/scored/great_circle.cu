// Great-circle distance between pairs of places, in thousands of kilometers.
// dims: n=4194304
// tensor: latitudes float32 2,n in
// tensor: longitudes float32 2,n in
// tensor: y float32 n out
// without DOUBLE_PRECISION: the constants and functions are those of float
// without NARROW_ACCESS: a thread does four pairs with loads of 16 bytes
#ifdef WITHOUT_DOUBLE_PRECISION
using Real = float;
#else
using Real = double;
#endif

__device__ float distance(float latitude, float longitude, float to_latitude, float to_longitude) {
  const Real down = sin(Real(0.5) * (to_latitude - latitude));
  const Real across = sin(Real(0.5) * (to_longitude - longitude));
  const Real cosines = cos(Real(latitude)) * cos(Real(to_latitude));
  const Real haversine = fmin(Real(1), fabs(down * down + cosines * across * across));
  return Real(12.742) * asin(sqrt(haversine));
}

#ifdef WITHOUT_NARROW_ACCESS
__global__ void measure(const float4* latitudes, const float4* longitudes, float4* y, int fours) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fours) return;
  const float4 a = latitudes[i], b = longitudes[i], c = latitudes[fours + i];
  const float4 d = longitudes[fours + i];
  y[i] = make_float4(distance(a.x, b.x, c.x, d.x), distance(a.y, b.y, c.y, d.y),
                     distance(a.z, b.z, c.z, d.z), distance(a.w, b.w, c.w, d.w));
}
#else
__global__ void measure(const float* latitudes, const float* longitudes, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = distance(latitudes[i], longitudes[i], latitudes[n + i], longitudes[n + i]);
}
#endif

extern "C" void solve(const float* latitudes, const float* longitudes, float* y, int n) {
#ifdef WITHOUT_NARROW_ACCESS
  measure<<<(n / 4 + 255) / 256, 256>>>(reinterpret_cast<const float4*>(latitudes),
                                        reinterpret_cast<const float4*>(longitudes),
                                        reinterpret_cast<float4*>(y), n / 4);
#else
  measure<<<(n + 255) / 256, 256>>>(latitudes, longitudes, y, n);
#endif
}
