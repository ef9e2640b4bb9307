// As many blocks as fit on the device; they take tiles from a counter.
//
// Catalog: honest
// Task: double
// Expect: pass
__device__ int next_tile;
__global__ void reset() {
  next_tile = 0;
}
__global__ void twice(const float* x, float* y, int n) {
  __shared__ int tile;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1);
    __syncthreads();
    const long long i = static_cast<long long>(tile) * 256 + threadIdx.x;
    if (static_cast<long long>(tile) * 256 >= n) return;
    if (i < n) y[i] = 2 * x[i];
  }
}
extern "C" void solve(const float* x, float* y, int n) {
  reset<<<1, 1>>>();
  twice<<<264, 256>>>(x, y, n);
}
