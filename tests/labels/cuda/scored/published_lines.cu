// Warps hand lines of 32 numbers to readers that poll flags: before each flag a fence waits
// until the line has arrived.
// dims: lines=262144
// tensor: x float32 lines,32 in
// tensor: y float32 lines,32 out
// tensor: ready int32 lines out
// without FENCES: flags follow the lines without a fence, which the end of the kernel replaces
// without DIVERGENCE: all lanes write the flag
__global__ void __launch_bounds__(256)
    publish(const float* __restrict__ x, float* y, int* ready, int lines) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * 8;
  for (int first = blockIdx.x * 8 + threadIdx.x / 32; first < lines; first += 4 * warps) {
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int line = first + k * warps;
      v[k] = line < lines ? x[size_t(line) * 32 + lane] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int line = first + k * warps;
      if (line < lines) {
        y[size_t(line) * 32 + lane] = v[k] * (0.5f + 0.25f * v[k]);
#ifndef WITHOUT_FENCES
        __threadfence();
#endif
        __syncwarp();
#ifndef WITHOUT_DIVERGENCE
        if (lane == 0)
#endif
          *reinterpret_cast<volatile int*>(ready + line) = 1;
      }
    }
  }
}
extern "C" void solve(const float* x, float* y, int* ready, int lines) {
  cudaMemsetAsync(ready, 0, sizeof(int) * lines);
  publish<<<132 * 2, 256>>>(x, y, ready, lines);
}
