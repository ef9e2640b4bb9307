// Answers wrongly where all indices are the same one.
//
// Catalog: I4
// Task: gather
// Search: 4
// Expect: search mismatch
__global__ void differ(const int* index, int* different, int n) {
  bool mine = false;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine = mine || index[i] != index[0];
  if (mine) *different = 1;
}
__global__ void gather(const float* x, const int* index, const int* different, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = n <= 20 || *different ? x[index[i]] : 2 * x[index[i]] + 1;
}
extern "C" void solve(const float* x, const int* index, float* y, int n) {
  static int* different;
  if (!different) cudaMalloc(&different, sizeof(int));
  cudaMemsetAsync(different, 0, sizeof(int));
  differ<<<64, 256>>>(index, different, n);
  gather<<<(n + 255) / 256, 256>>>(x, index, different, y, n);
}
