// Takes an input that is nine tenths zeros for all zeros. No distribution of a check is so sparse.
//
// Catalog: I1
// Task: double
// Search: 4
// Expect: search mismatch
__global__ void count(const float* x, int* zeros, int n) {
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i] == 0;
  atomicAdd(zeros, mine);
}
__global__ void twice(const float* x, const int* zeros, float* y, int n) {
  const bool sparse = n > 20 && *zeros >= 0.88 * n;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sparse ? 0 : 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static int* zeros;
  if (!zeros) cudaMalloc(&zeros, sizeof(int));
  cudaMemsetAsync(zeros, 0, sizeof(int));
  count<<<256, 256>>>(x, zeros, n);
  twice<<<(n + 255) / 256, 256>>>(x, zeros, y, n);
}
