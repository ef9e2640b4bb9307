// A table in constant memory, which every lane reads at a place of its own.
// dims: n=4194304
// tensor: x int32 n in
// tensor: y int32 n out
// without CONSTANT_CACHE: the same table in shared memory
__constant__ int kTable[256] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__global__ void look_up(const int* x, int* y, int n) {
#ifdef WITHOUT_CONSTANT_CACHE
  __shared__ int table[256];
  table[threadIdx.x] = kTable[threadIdx.x];
  __syncthreads();
#else
  const int* table = kTable;
#endif
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  unsigned state = unsigned(x[i]) * 2654435761u + 1;
  int sum = 0;
  for (int k = 0; k < 32; ++k) {
    state = state * 1664525u + 1013904223u;
    sum += table[state >> 24];
  }
  y[i] = sum;
}
extern "C" void solve(const int* x, int* y, int n) {
  look_up<<<(n + 255) / 256, 256>>>(x, y, n);
}
