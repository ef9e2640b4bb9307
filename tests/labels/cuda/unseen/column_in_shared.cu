// Rotates tiles in shared memory whose columns all lie in one bank.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without BANK_CONFLICTS: rows of 33
// without BYTES, other answers: does not read x from memory
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int kPitch = 33;
#else
constexpr int kPitch = 32;
#endif
__global__ void rotate(const float* x, float* y, int n) {
  __shared__ float tile[32 * kPitch];
  const int base = blockIdx.x * 1024, row = threadIdx.x / 32, col = threadIdx.x % 32;
  for (int r = row; r < 32; r += 8) {
    const int i = base + r * 32 + col;
#ifdef WITHOUT_BYTES
    tile[r * kPitch + col] = float(i);
#else
    tile[r * kPitch + col] = i < n ? x[i] : 0;
#endif
  }
  __syncthreads();
  float held[4];
  for (int turn = 0; turn < 8; ++turn) {
    for (int k = 0; k < 4; ++k) held[k] = tile[col * kPitch + row + 8 * k];
    __syncthreads();
    for (int k = 0; k < 4; ++k) tile[(row + 8 * k) * kPitch + col] = held[k] + 1;
    __syncthreads();
  }
  for (int r = row; r < 32; r += 8)
    if (base + r * 32 + col < n) y[base + r * 32 + col] = tile[r * kPitch + col];
}
extern "C" void solve(const float* x, float* y, int n) {
  rotate<<<(n + 1023) / 1024, 256>>>(x, y, n);
}
