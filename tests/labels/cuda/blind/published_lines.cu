// Warps hand lines of 32 numbers to readers that poll flags: before each flag a fence waits until the line has arrived.
// dims: n=8388608
// tensor: x float32 n in
// tensor: y float32 n out
// tensor: ready int32 n/32+1 out
// without FENCES: flags follow the lines without a fence, which the end of the kernel replaces
// without DIVERGENCE: all lanes write the flag
// without SPECIAL_FUNCTIONS, other answers: a polynomial instead of the exponential
__global__ void __launch_bounds__(256) publish(const float* __restrict__ x, float* y, int* ready, int n) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * 8, lines = (n + 31) / 32;
  for (int line = blockIdx.x * 8 + threadIdx.x / 32; line < lines; line += 4 * warps) {
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const long long i = (line + (long long)k * warps) * 32 + lane;
      v[k] = i < n ? x[i] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const long long i = (line + (long long)k * warps) * 32 + lane;
      if (i - lane < n) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
        if (i < n) y[i] = v[k] * (0.5f + 0.25f * v[k]);
#else
        if (i < n) y[i] = __fdividef(v[k], 1.0f + __expf(-v[k]));
#endif
#ifndef WITHOUT_FENCES
        __threadfence();
#endif
        __syncwarp();
#ifndef WITHOUT_DIVERGENCE
        if (lane == 0)
#endif
          *reinterpret_cast<volatile int*>(ready + i / 32) = 1;
      }
    }
  }
}
extern "C" void solve(const float* x, float* y, int* ready, int n) {
  cudaMemsetAsync(ready, 0, sizeof(int) * (n / 32 + 1));
  publish<<<132 * 2, 256>>>(x, y, ready, n);
}
