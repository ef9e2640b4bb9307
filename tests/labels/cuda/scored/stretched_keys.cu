// Twenty-four rounds of SHA-256 over each key, all unrolled: half a megabyte of code that is
// executed once.
// dims: n=16896
// tensor: key int32 n,8 in
// tensor: digest int32 n,8 out
// without INSTRUCTION_FETCH: the rounds are a loop over the code of one
// without STRIDED_ACCESS, other answers: the words of the keys are interleaved
// without CONSTANT_CACHE, other answers: the initial state does not come from constant memory
#include <cstdint>
__constant__ uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
__device__ constexpr uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ __forceinline__ uint32_t turn(uint32_t x, int n) {
  return __funnelshift_r(x, x, n);
}
__device__ __forceinline__ void compress(uint32_t (&h)[8], uint32_t (&w)[16]) {
  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], q = h[7];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
      w[i % 16] += (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[(i + 9) % 16] +
                   (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
    const uint32_t t =
        q + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i % 16];
    const uint32_t u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    q = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
  }
  h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += q;
}
constexpr int ROUNDS = 24;
__device__ __forceinline__ void once(uint32_t (&state)[8], int round) {
  uint32_t h[8], w[16] = {};
  for (int k = 0; k < 8; ++k) {
    w[k] = state[k];
#ifdef WITHOUT_CONSTANT_CACHE
    h[k] = 0x9e3779b9u * (k + 1);
#else
    h[k] = initial[k];
#endif
  }
  w[8] = 0x80000000u;
  w[14] = round;
  w[15] = 256;
  compress(h, w);
  for (int k = 0; k < 8; ++k) state[k] = h[k];
}
template <int ROUND>
__device__ __forceinline__ void all_from(uint32_t (&state)[8]) {
  once(state, ROUND);
  if constexpr (ROUND + 1 < ROUNDS) all_from<ROUND + 1>(state);
}
__global__ void __launch_bounds__(128)
    stretch(const uint32_t* __restrict__ key, uint32_t* __restrict__ digest, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const size_t first = i, step = n;
#else
  const size_t first = size_t(i) * 8, step = 1;
#endif
  uint32_t state[8];
  for (int k = 0; k < 8; ++k) state[k] = key[first + k * step];
#ifdef WITHOUT_INSTRUCTION_FETCH
#pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) once(state, round);
#else
  all_from<0>(state);
#endif
  for (int k = 0; k < 8; ++k) digest[first + k * step] = state[k];
}
extern "C" void solve(const int* key, int* digest, int n) {
  stretch<<<(n + 127) / 128, 128>>>((const uint32_t*)key, (uint32_t*)digest, n);
}
