// Influence of all earlier events on each event; a block has consecutive events, so the last
// block has most of the work.
// dims: n=33792
// tensor: time float32 n in
// tensor: influence float32 n out
// without IMBALANCE: each block has a chunk from the front and one from the back
// without DIVERGENCE, other answers: the lanes of a warp stop at the same event
// without BARRIERS: the four shares of an event are added up without a barrier for every chunk
constexpr int CHUNK = 128;
__global__ void __launch_bounds__(4 * CHUNK)
    sum_past(const float* __restrict__ time, float* __restrict__ influence, int n, int chunks) {
  __shared__ float share[2][4][CHUNK];
  const int lane = threadIdx.x % CHUNK, part = threadIdx.x / CHUNK;
  for (int half = 0; half < 2; ++half) {
#ifdef WITHOUT_IMBALANCE
    const int chunk = half ? chunks - 1 - blockIdx.x : blockIdx.x;
#else
    const int chunk = 2 * blockIdx.x + half;
#endif
    const int i = chunk * CHUNK + lane;
    const float mine = i < n ? time[i] : 0.0f;
#ifdef WITHOUT_DIVERGENCE
    const int end = min(i & ~31, n);
#else
    const int end = min(i, n);
#endif
    float sum = 0;
#pragma unroll 8
    for (int j = part; j < end; j += 4) {
      const float d = mine - time[j];
      const float u = fmaxf(0.0f, 1.0f - d * d), w = u * u;
      sum += w * (u + 0.3f * w * w);
    }
    share[half][part][lane] = sum;
#ifndef WITHOUT_BARRIERS
    __syncthreads();
    if (part == 0 && i < n)
      influence[i] =
          share[half][0][lane] + share[half][1][lane] + share[half][2][lane] + share[half][3][lane];
#endif
  }
#ifdef WITHOUT_BARRIERS
  __syncthreads();
  if (part < 2) {
    const int i = (2 * blockIdx.x + part) * CHUNK + lane;
    if (i < n)
      influence[i] =
          share[part][0][lane] + share[part][1][lane] + share[part][2][lane] + share[part][3][lane];
  }
#endif
}
extern "C" void solve(const float* time, float* influence, int n) {
  const int pairs = (n + 2 * CHUNK - 1) / (2 * CHUNK);
  sum_past<<<pairs, 4 * CHUNK>>>(time, influence, n, 2 * pairs);
}
