// Scores of additive attention: for every query and key 64 hyperbolic tangents, each an
// exponential and a reciprocal.
// dims: queries=1024 keys=4096
// tensor: q float32 queries,64 in
// tensor: k float32 keys,64 in
// tensor: v float32 64 in
// tensor: score float32 queries,keys out
// without SPECIAL_FUNCTIONS, other answers: a clipped line, no exponential, no reciprocal
// without SHARED_TRAFFIC, other answers: one key feature, kept in a register, for all
// without BYTES, other answers: the scores of a query are added up before they are written
constexpr float TWICE_LOG2_E = 2.885390082f;
// tanh(x) is 1 - 2 / (1 + 2^t) with t = TWICE_LOG2_E * x; this is the quotient 1 / (1 + 2^t).
__device__ __forceinline__ float quotient(float t) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return __saturatef(0.5f - t);
#else
  float power, r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + power));
  return r;
#endif
}
__global__ void __launch_bounds__(256)
    scores(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
           float* __restrict__ score, int queries, int keys) {
  // A block has 64 keys and 16 queries, a thread one key and four queries.
  __shared__ __align__(16) float query[64][16], weight[64], feature[64][65];
  const int key0 = blockIdx.x * 64, query0 = blockIdx.y * 16, mine = threadIdx.x % 64,
            four = threadIdx.x / 64 * 4;
  for (int i = threadIdx.x; i < 64 * 16; i += 256)
    query[i % 64][i / 64] =
        query0 + i / 64 < queries ? TWICE_LOG2_E * q[(query0 + i / 64) * 64 + i % 64] : 0.0f;
  for (int i = threadIdx.x; i < 64 * 64; i += 256)
    feature[i % 64][i / 64] =
        key0 + i / 64 < keys ? TWICE_LOG2_E * k[(key0 + i / 64) * 64 + i % 64] : 0.0f;
  if (threadIdx.x < 64) weight[threadIdx.x] = v[threadIdx.x];
  __syncthreads();
  float sum[4] = {}, weights = 0;
#ifdef WITHOUT_SHARED_TRAFFIC
  const float f = feature[0][mine];
#endif
#pragma unroll 8
  for (int d = 0; d < 64; ++d) {
#ifndef WITHOUT_SHARED_TRAFFIC
    const float f = feature[d][mine];
#endif
    const float4 a = *reinterpret_cast<const float4*>(&query[d][four]);
    const float w = weight[d];
    weights += w;
    sum[0] += w * quotient(a.x + f);
    sum[1] += w * quotient(a.y + f);
    sum[2] += w * quotient(a.z + f);
    sum[3] += w * quotient(a.w + f);
  }
  for (int i = 0; i < 4; ++i) sum[i] = weights - 2 * sum[i];
#ifdef WITHOUT_BYTES
  sum[0] += sum[1] + sum[2] + sum[3];
  if (query0 + four < queries && key0 + mine < keys)
    score[size_t(query0 + four) * keys + key0 + mine] = sum[0];
#else
  for (int i = 0; i < 4; ++i)
    if (query0 + four + i < queries && key0 + mine < keys)
      score[size_t(query0 + four + i) * keys + key0 + mine] = sum[i];
#endif
}
extern "C" void solve(const float* q, const float* k, const float* v, float* score, int queries,
                      int keys) {
  scores<<<dim3((keys + 63) / 64, (queries + 15) / 16), 256>>>(q, k, v, score, queries, keys);
}
