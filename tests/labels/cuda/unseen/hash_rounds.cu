// Rounds of an integer hash: additions, rotations and exclusive ors.
// dims: n=4194304
// tensor: x int32 n in
// tensor: y int32 n out
// without ARITHMETIC, other answers: half the rounds
// without BYTES, other answers: does not read x from memory
__global__ void hash(const int* x, int* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  unsigned v = i;
#else
  unsigned v = x[i];
#endif
  unsigned a = v ^ 0x9e3779b9u, b = v + 0x85ebca6bu;
#ifdef WITHOUT_ARITHMETIC
  constexpr int kRounds = 32;
#else
  constexpr int kRounds = 64;
#endif
#pragma unroll 8
  for (int k = 0; k < kRounds; ++k) {
    a += b;
    b = (b << 13 | b >> 19) ^ a;
    a = (a << 7 | a >> 25) + 0x27d4eb2fu;
    b ^= a >> 3;
  }
  y[i] = a ^ b;
}
extern "C" void solve(const int* x, int* y, int n) {
  hash<<<(n + 255) / 256, 256>>>(x, y, n);
}
