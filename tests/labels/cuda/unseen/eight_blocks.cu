// A whole array by eight blocks, so most multiprocessors idle.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without FEW_BLOCKS: as many blocks as there is work for
__global__ void root(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = sqrtf(fabsf(x[i]));
}
extern "C" void solve(const float* x, float* y, int n) {
#ifdef WITHOUT_FEW_BLOCKS
  root<<<(n + 1023) / 1024, 512>>>(x, y, n);
#else
  root<<<8, 512>>>(x, y, n);
#endif
}
