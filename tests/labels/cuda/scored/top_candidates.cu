// Recommender: for each user the mean of the best sixteen of 96 candidates' jittered scores.
// dims: users=135168 candidates=96
// tensor: score float32 candidates,users in
// tensor: y float32 users out
// without LOCAL_MEMORY: the best sixteen stay in registers, a full pass of exchanges inserts
// without BYTES, other answers: only two of the candidates' scores are read
__global__ void __launch_bounds__(128)
    best_mean(const float* __restrict__ score, float* __restrict__ y, int users, int candidates) {
  const int user = blockIdx.x * 128 + threadIdx.x;
  if (user >= users) return;
  float best[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) best[k] = -1e9f;
  for (int c = 0; c < candidates; ++c) {
#ifdef WITHOUT_BYTES
    float v = score[(c & 1) * users + user];
#else
    float v = score[c * users + user];
#endif
    v *= 1 + float((unsigned(c * users + user) * 2654435761u) >> 8) * (1.0f / (1 << 24));
    if (v <= best[15]) continue;
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float above = fmaxf(best[k], v);
      v = fminf(best[k], v);
      best[k] = above;
    }
#else
    int at = 15;
    while (at > 0 && best[at - 1] < v) {
      best[at] = best[at - 1];
      --at;
    }
    best[at] = v;
#endif
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += best[k] / (k + 1);
  y[user] = sum;
}
extern "C" void solve(const float* score, float* y, int users, int candidates) {
  best_mean<<<(users + 127) / 128, 128>>>(score, y, users, candidates);
}
