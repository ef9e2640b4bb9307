// Shortest travel times over one stop in between: the smallest sum of a leg from i to k and a leg
// from k to j, for all i and j, in tiles of 32 x 32.
// dims: n=1024
// tensor: first float32 n,n in
// tensor: second float32 n,n in
// tensor: best float32 n,n out
// without SHARED_TRAFFIC: a thread has 4 x 4 results, a word it has read serves four of them
// without BARRIERS, other answers: nobody waits for the tiles
// without BYTES, other answers: all blocks read the same few tiles
#ifdef WITHOUT_BARRIERS
#define TILES_READY() __syncwarp()
#else
#define TILES_READY() __syncthreads()
#endif
#ifdef WITHOUT_BYTES
#define TILE_AT(OFFSET) ((OFFSET) & 32)
#else
#define TILE_AT(OFFSET) (OFFSET)
#endif
#ifdef WITHOUT_SHARED_TRAFFIC
constexpr int kThreads = 64;
#else
constexpr int kThreads = 1024;
#endif
__global__ void __launch_bounds__(kThreads)
    relax(const float* __restrict__ first, const float* __restrict__ second,
          float* __restrict__ best, int n) {
  __shared__ __align__(16) float a[32][32], b[32][32];
  const int top = blockIdx.y * 32, left = blockIdx.x * 32;
#ifdef WITHOUT_SHARED_TRAFFIC
  const int high = threadIdx.x / 8 * 4, wide = threadIdx.x % 8 * 4;
  float least[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) least[i][j] = 3e38f;
#else
  const int row = threadIdx.x / 32, column = threadIdx.x % 32;
  float least = 3e38f;
#endif
#pragma unroll 1
  for (int k = 0; k < n; k += 32) {
    TILES_READY();
#pragma unroll
    for (int e = threadIdx.x; e < 1024; e += kThreads) {
      const int y = e / 32, x = e % 32;
      a[y][x] = first[size_t(TILE_AT(top) + y) * n + TILE_AT(k) + x];
      b[y][x] = second[size_t(TILE_AT(k) + y) * n + TILE_AT(left) + x];
    }
    TILES_READY();
#ifdef WITHOUT_SHARED_TRAFFIC
#pragma unroll 8
    for (int step = 0; step < 32; step += 4) {
      float4 u[4], v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) u[i] = *reinterpret_cast<const float4*>(&a[high + i][step]);
#pragma unroll
      for (int s = 0; s < 4; ++s) v[s] = *reinterpret_cast<const float4*>(&b[step + s][wide]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float legs[4] = {u[i].x, u[i].y, u[i].z, u[i].w};
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          least[i][0] = fminf(least[i][0], legs[s] + v[s].x);
          least[i][1] = fminf(least[i][1], legs[s] + v[s].y);
          least[i][2] = fminf(least[i][2], legs[s] + v[s].z);
          least[i][3] = fminf(least[i][3], legs[s] + v[s].w);
        }
      }
    }
#else
#pragma unroll
    for (int step = 0; step < 32; ++step) least = fminf(least, a[row][step] + b[step][column]);
#endif
  }
#ifdef WITHOUT_SHARED_TRAFFIC
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(best + size_t(top + high + i) * n + left + wide) =
        make_float4(least[i][0], least[i][1], least[i][2], least[i][3]);
#else
  best[size_t(top + row) * n + left + column] = least;
#endif
}
extern "C" void solve(const float* first, const float* second, float* best, int n) {
  relax<<<dim3(n / 32, n / 32), kThreads>>>(first, second, best, n);
}
