// One warp of each block works while the others wait for it at a barrier, in turns.
// dims: n=1081344
// tensor: x float32 n in
// tensor: y float32 n out
// without BARRIERS: no barrier, so the warps work at the same time
__global__ void __launch_bounds__(1024) turns(const float* x, float* y, int n) {
  const int i = blockIdx.x * 1024 + threadIdx.x, warp = threadIdx.x / 32;
  float v = i < n ? x[i] : 0;
  for (int turn = 0; turn < 32; ++turn) {
    if (turn == warp)
      for (int k = 0; k < 128; ++k) v = v * 0.5f + 0.25f;
#ifndef WITHOUT_BARRIERS
    __syncthreads();
#endif
  }
  if (i < n) y[i] = v;
}
extern "C" void solve(const float* x, float* y, int n) {
  turns<<<(n + 1023) / 1024, 1024>>>(x, y, n);
}
