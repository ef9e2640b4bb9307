// Plays out boards of a game, a warp a board and a lane a player. In each round, all make some
// moves of their own, many where the board is in a fight, then each looks at another one.
// dims: boards=2048 points=361
// tensor: seeds int32 boards*32 in
// tensor: scores int32 boards*32 out
// without BARRIERS: a warp waits for itself only, as boards do not meet
// without SHARED_TRAFFIC: the players look at one another by shuffles
// without INTEGER_DIVISION, other answers: the point is masked from the hash
constexpr int kRounds = 64, kThreads = 512;
__device__ void wait() {
#ifdef WITHOUT_BARRIERS
  __syncwarp();
#else
  __syncthreads();
#endif
}
__global__ void __launch_bounds__(kThreads)
    play(const int* __restrict__ seeds, int* __restrict__ scores, int points) {
#ifndef WITHOUT_SHARED_TRAFFIC
  __shared__ unsigned shown[kThreads];
#endif
  const int t = threadIdx.x, lane = t % 32, i = blockIdx.x * kThreads + t;
  unsigned state = (unsigned(seeds[i]) + i + 1) * 2654435761u;
  int score = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    const unsigned hash = (__shfl_sync(~0u, state, 0) * 0x85ebca6bu) >> 8;
#ifdef WITHOUT_INTEGER_DIVISION
    const unsigned point = hash & 255;
#else
    const unsigned point = hash % unsigned(points);
#endif
    const int moves = (point & 7) == 0 ? 32 : 4;
#pragma unroll 1
    for (int move = 0; move < moves; ++move) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      state = state * 1664525u + point;
      score += state >> 31;
    }
    const int other = (lane + 1 + point) & 31;
#ifdef WITHOUT_SHARED_TRAFFIC
    wait();
    const unsigned seen = __shfl_sync(~0u, state, other);
    wait();
#else
    shown[t] = state;
    wait();
    const unsigned seen = shown[t - lane + other];
    wait();
#endif
    state += seen >> 3;
  }
  scores[i] = score;
}
extern "C" void solve(const int* seeds, int* scores, int boards, int points) {
  play<<<boards * 32 / kThreads, kThreads>>>(seeds, scores, points);
}
