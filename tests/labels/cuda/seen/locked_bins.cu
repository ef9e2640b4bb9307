// A lock for each of sixty-four sums.
// dims: n=4096
// tensor: x int32 n in
// tensor: y int32 64 out
// without GLOBAL_ATOMICS: one atomic addition instead of lock, addition and release
__device__ int locks[64];
__global__ void add(const int* x, int* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const int bin = (unsigned(x[i]) * 2654435761u) >> 26;
#ifdef WITHOUT_GLOBAL_ATOMICS
  atomicAdd(y + bin, 1);
#else
  for (bool done = false; !done;) {
    if (atomicCAS(locks + bin, 0, 1) == 0) {
      *(volatile int*)(y + bin) = *(volatile int*)(y + bin) + 1;
      __threadfence();
      atomicExch(locks + bin, 0);
      done = true;
    }
  }
#endif
}
extern "C" void solve(const int* x, int* y, int n) {
  cudaMemsetAsync(y, 0, 256);
  add<<<(n + 255) / 256, 256>>>(x, y, n);
}
