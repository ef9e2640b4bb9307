// Attention of one new token, a warp per head that goes along the cache position by position
// with a running softmax.
// dims: heads=1024 length=512
// tensor: q float16 heads,64 in
// tensor: key float16 heads,length,64 in
// tensor: value float16 heads,length,64 in
// tensor: out float32 heads,64 out
// without SERIAL_LOADS: keys and values of eight positions are fetched before the first is used
// without BYTES, other answers: the keys serve as values
// without IMBALANCE: blocks of two warps, so that they spread more evenly
#include <cuda_fp16.h>
#ifdef WITHOUT_IMBALANCE
constexpr int WARPS = 2;
#else
constexpr int WARPS = 4;
#endif
#ifdef WITHOUT_SERIAL_LOADS
constexpr int AHEAD = 8;
#else
constexpr int AHEAD = 1;
#endif
__global__ void __launch_bounds__(32 * WARPS)
    decode(const __half2* __restrict__ q, const __half2* __restrict__ key,
           const __half2* __restrict__ value, float2* __restrict__ out, int heads, int length) {
  const int head = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (head >= heads) return;
  const float2 mine = __half22float2(q[head * 32 + lane]);
  const __half2* k = key + size_t(head) * length * 32 + lane;
#ifndef WITHOUT_BYTES
  const __half2* v = value + size_t(head) * length * 32 + lane;
#endif
  float most = -1e30f, sum = 0;
  float2 result = {0, 0};
#pragma unroll 1
  for (int p = 0; p < length; p += AHEAD) {
    __half2 keys[AHEAD], values[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; ++a) {
      const size_t at = size_t(min(p + a, length - 1)) * 32;
      keys[a] = k[at];
#ifdef WITHOUT_BYTES
      values[a] = keys[a];
#else
      values[a] = v[at];
#endif
    }
#pragma unroll
    for (int a = 0; a < AHEAD; ++a) {
      const float2 x = __half22float2(keys[a]), y = __half22float2(values[a]);
      float score = mine.x * x.x + mine.y * x.y;
      for (int lanes = 16; lanes; lanes /= 2) score += __shfl_xor_sync(~0u, score, lanes);
      score = AHEAD == 1 || p + a < length ? score * 0.125f : -1e30f;
      const float now = fmaxf(most, score), old = __expf(most - now), p_now = __expf(score - now);
      sum = sum * old + p_now;
      result.x = result.x * old + p_now * y.x;
      result.y = result.y * old + p_now * y.y;
      most = now;
    }
  }
  out[head * 32 + lane] = {result.x / sum, result.y / sum};
}
extern "C" void solve(const __half* q, const __half* key, const __half* value, float* out,
                      int heads, int length) {
  decode<<<(heads + WARPS - 1) / WARPS, 32 * WARPS>>>(
      (const __half2*)q, (const __half2*)key, (const __half2*)value, (float2*)out, heads, length);
}
