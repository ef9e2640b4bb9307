// Density at each query by a triweight kernel over all points: a dozen operations per pair and
// nearly no memory.
// dims: queries=135168 points=4096
// tensor: qx float32 queries in
// tensor: qy float32 queries in
// tensor: qz float32 queries in
// tensor: px float32 points in
// tensor: py float32 points in
// tensor: pz float32 points in
// tensor: density float32 queries out
// without ARITHMETIC, other answers: the points are fetched as before but only added up
// without BARRIERS, other answers: no barrier around the tiles
// without REPEATED_READS, other answers: all tiles come from the first one
__global__ void __launch_bounds__(128)
    estimate(const float* __restrict__ qx, const float* __restrict__ qy,
             const float* __restrict__ qz, const float* __restrict__ px,
             const float* __restrict__ py, const float* __restrict__ pz,
             float* __restrict__ density, int queries, int points) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  float x[2], y[2], z[2], sum[2] = {};
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int at = min(i + 128 * k, queries - 1);
    x[k] = qx[at];
    y[k] = qy[at];
    z[k] = qz[at];
  }
  for (int first = 0; first < points; first += 256) {
#ifndef WITHOUT_BARRIERS
    __syncthreads();
#endif
    for (int j = threadIdx.x; j < 256; j += 128) {
#ifdef WITHOUT_REPEATED_READS
      const int at = j;
#else
      const int at = first + j;
#endif
      tile[j] =
          at < points ? make_float4(px[at], py[at], pz[at], 0) : make_float4(1e9f, 1e9f, 1e9f, 0);
    }
#ifndef WITHOUT_BARRIERS
    __syncthreads();
#endif
#pragma unroll 8
    for (int j = 0; j < 256; ++j) {
      const float4 p = tile[j];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
#ifdef WITHOUT_ARITHMETIC
        sum[k] += k ? p.x : p.y;
#else
        const float dx = p.x - x[k], dy = p.y - y[k], dz = p.z - z[k];
        const float u = fmaxf(0.0f, 1.0f - (dx * dx + dy * dy + dz * dz));
        const float w = u * u;
        sum[k] += w * u + 0.25f * w * w;
#endif
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 2; ++k)
    if (i + 128 * k < queries)
      density[i + 128 * k] = (sum[k] + x[k] * 1e-9f + y[k] * 1e-9f + z[k] * 1e-9f) / points;
}
extern "C" void solve(const float* qx, const float* qy, const float* qz, const float* px,
                      const float* py, const float* pz, float* density, int queries, int points) {
  estimate<<<(queries + 255) / 256, 128>>>(qx, qy, qz, px, py, pz, density, queries, points);
}
