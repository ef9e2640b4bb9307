// Each block loads a tile, waits for it, calculates with it, and only then loads the next.
// dims: n=8650752
// tensor: x float32 n in
// tensor: y float32 n out
// without SERIAL_LOADS: the next tile is on its way during the calculation
__global__ void __launch_bounds__(256) tiles(const float* x, float* y, int n) {
  __shared__ float tile[256];
  const int step = gridDim.x * 256;
  int i = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_SERIAL_LOADS
  float next = i < n ? x[i] : 0, after = i + step < n ? x[i + step] : 0;
#endif
  for (; i - int(threadIdx.x) < n; i += step) {
#ifdef WITHOUT_SERIAL_LOADS
    tile[threadIdx.x] = next;
    next = after;
    after = i + 2 * step < n ? x[i + 2 * step] : 0;
#else
    tile[threadIdx.x] = i < n ? x[i] : 0;
#endif
    __syncthreads();
    float v = tile[threadIdx.x ^ 1];
#pragma unroll
    for (int k = 0; k < 16; ++k) v = v * 0.5f + 0.25f;
    if (i < n) y[i] = v;
    __syncthreads();
  }
}
extern "C" void solve(const float* x, float* y, int n) {
  tiles<<<132, 256>>>(x, y, n);
}
