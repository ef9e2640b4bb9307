// A histogram of sixteen bins in shared memory, one for the whole block.
// dims: n=16777216
// tensor: x int32 n in
// tensor: y int32 16 out
// without SHARED_ATOMICS: a histogram for each lane
__global__ void histogram(const int* x, int* y, int n) {
#ifdef WITHOUT_SHARED_ATOMICS
  // A column for each lane: no two lanes of a warp meet in a place or a bank.
  __shared__ int own[16][32];
  for (int k = threadIdx.x; k < 512; k += 256) own[k / 32][k % 32] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&own[(unsigned(x[i]) * 2654435761u) >> 28][threadIdx.x % 32], 1);
  __syncthreads();
  for (int b = threadIdx.x / 32; b < 16; b += 8) {
    const int sum = __reduce_add_sync(~0u, own[b][threadIdx.x % 32]);
    if (threadIdx.x % 32 == 0) atomicAdd(y + b, sum);
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
