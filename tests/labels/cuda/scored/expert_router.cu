// Chooses the two best of sixteen experts for each token; a warp has the token, and its first
// lane does all of it.
// dims: tokens=1048576
// tensor: logit float32 tokens,16 in
// tensor: expert int32 tokens,2 out
// tensor: weight float32 tokens,2 out
// without IDLE_LANES: each lane has a token of its own
// without BYTES, other answers: all tokens are written over the first thousand
// without LAUNCHES: the outputs are not cleared beforehand
__global__ void __launch_bounds__(256)
    route(const float4* __restrict__ logit, int2* __restrict__ expert, float2* __restrict__ weight,
          int tokens) {
#ifdef WITHOUT_IDLE_LANES
  const int token = blockIdx.x * 256 + threadIdx.x;
#else
  const int token = blockIdx.x * 8 + threadIdx.x / 32;
  if (threadIdx.x % 32 != 0) return;
#endif
  if (token >= tokens) return;
  float best = -INFINITY, next = -INFINITY;
  int first = 0, second = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4 four = logit[size_t(token) * 4 + k];
    const float each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float v = each[e];
      const int id = 4 * k + e;
      const bool top = v > best, middle = !top && v > next;
      next = top ? best : middle ? v : next;
      second = top ? first : middle ? id : second;
      best = top ? v : best;
      first = top ? id : first;
    }
  }
  const float share = __fdividef(1.0f, 1.0f + __expf(fmaxf(next - best, -80.0f)));
#ifdef WITHOUT_BYTES
  const int to = token & 1023;
#else
  const int to = token;
#endif
  expert[to] = {first, second};
  weight[to] = {share, 1.0f - share};
}
extern "C" void solve(const float* logit, int* expert, float* weight, int tokens) {
#ifndef WITHOUT_LAUNCHES
  cudaMemsetAsync(expert, 0, sizeof(int2));
#endif
#ifdef WITHOUT_IDLE_LANES
  const int blocks = (tokens + 255) / 256;
#else
  const int blocks = (tokens + 7) / 8;
#endif
  route<<<blocks, 256>>>((const float4*)logit, (int2*)expert, (float2*)weight, tokens);
}
