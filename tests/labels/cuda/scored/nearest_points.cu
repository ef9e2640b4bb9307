// Distances from each query to its sixteen nearest points of a small cloud, in ascending order.
// dims: queries=65536 points=512
// tensor: x float32 3,queries in
// tensor: cloud float32 3,points in
// tensor: y float32 16,queries out
// without LOCAL_MEMORY: the list is sorted into by exchanges between registers
// without SPECIAL_FUNCTIONS: the root is taken of the sixteen found squares only
__global__ void __launch_bounds__(128)
    nearest(const float* __restrict__ x, const float* __restrict__ cloud, float* __restrict__ y,
            int queries, int points) {
  extern __shared__ float near[];
  for (int i = threadIdx.x; i < 3 * points; i += 128) near[i] = cloud[i];
  __syncthreads();
  const int query = blockIdx.x * 128 + threadIdx.x;
  if (query >= queries) return;
  const float px = x[query], py = x[queries + query], pz = x[2 * queries + query];
  float best[16];
  for (int k = 0; k < 16; ++k) best[k] = 1e30f;
  float worst = 1e30f;
  for (int point = 0; point < points; ++point) {
    const float dx = near[point] - px, dy = near[points + point] - py;
    const float dz = near[2 * points + point] - pz;
    float d = dx * dx + dy * dy + dz * dz;
#ifndef WITHOUT_SPECIAL_FUNCTIONS
    d = sqrtf(d);
#endif
    if (d >= worst) continue;
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float smaller = fminf(best[k], d);
      d = fmaxf(best[k], d);
      best[k] = smaller;
    }
#else
    int place = 15;
#pragma unroll 1
    for (; place > 0 && best[place - 1] > d; --place) best[place] = best[place - 1];
    best[place] = d;
#endif
    worst = best[15];
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    best[k] = sqrtf(best[k]);
#endif
    y[k * queries + query] = best[k];
  }
}

extern "C" void solve(const float* x, const float* cloud, float* y, int queries, int points) {
  nearest<<<(queries + 127) / 128, 128, 12 * points>>>(x, cloud, y, queries, points);
}
