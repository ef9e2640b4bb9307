// Two warps on each multiprocessor, since each block reserves most of its shared memory.
// dims: n=16777216
// tensor: x float32 n in
// tensor: y float32 n out
// without LOW_OCCUPANCY: reserves nothing, so more blocks run at once
extern __shared__ float reserve[];
__global__ void scale(const float* x, float* y, int n) {
  reserve[threadIdx.x] = 2.0f;
  __syncthreads();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64)
    y[i] = x[i] * reserve[threadIdx.x];
}
extern "C" void solve(const float* x, float* y, int n) {
#ifdef WITHOUT_LOW_OCCUPANCY
  const int bytes = 256;
#else
  const int bytes = 200 * 1024;
#endif
  cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  scale<<<4224, 64, bytes>>>(x, y, n);
}
