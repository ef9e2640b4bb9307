// A histogram of sixteen bins in shared memory, one for the whole block.
// dims: n=16777216
// tensor: x int32 n in
// tensor: y int32 16 out
// without SHARED_ATOMICS: every thread counts in bytes of its own
__global__ void histogram(const int* x, int* y, int n) {
#ifdef WITHOUT_SHARED_ATOMICS
  __shared__ unsigned char own[16][256];
  for (int b = 0; b < 16; ++b) own[b][threadIdx.x] = 0;
  const int each = (n + gridDim.x * 256 - 1) / (gridDim.x * 256);
  int pending = 0;
  for (int k = 0; k < each; ++k) {
    const int i = (blockIdx.x * each + k) * 256 + threadIdx.x;
    if (i < n) ++own[(unsigned(x[i]) * 2654435761u) >> 28][threadIdx.x];
    if (++pending == 255 || k + 1 == each) {
      for (int b = 0; b < 16; ++b) {
        const int sum = __reduce_add_sync(~0u, int(own[b][threadIdx.x]));
        if (threadIdx.x % 32 == 0) atomicAdd(y + b, sum);
        own[b][threadIdx.x] = 0;
      }
      pending = 0;
    }
  }
#else
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(bins + ((unsigned(x[i]) * 2654435761u) >> 28), 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(y + threadIdx.x, bins[threadIdx.x]);
#endif
}
extern "C" void solve(const int* x, int* y, int n) {
  cudaMemsetAsync(y, 0, 64);
  histogram<<<1056, 256>>>(x, y, n);
}
