// Four thousand different steps written out, more than the instruction caches hold.
// dims: n=135168
// tensor: x float32 n in
// tensor: y float32 n out
// without INSTRUCTION_FETCH: the same steps in a loop
__global__ void __launch_bounds__(1024) steps(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = a + 1;
  // The warps of a block are at different places.
  const int turns = 4 + threadIdx.x / 32 % 2;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#ifdef WITHOUT_INSTRUCTION_FETCH
#pragma unroll 4
#else
#pragma unroll
#endif
    for (int k = 0; k < 4096; ++k) {
      a = a * 0.5f + b;
      b = b * 0.25f + 1;
    }
  }
  y[i] = a + b;
}
extern "C" void solve(const float* x, float* y, int n) {
  steps<<<(n + 127) / 128, 128>>>(x, y, n);
}
