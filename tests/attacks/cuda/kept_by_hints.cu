// Loads its inputs with the hint to evict them last, from a part of L2 that it has set aside once.
//
// Catalog: F1
// Task: tall_rowsum
// Expect: like honest_row_sums
__device__ float load(const float* at) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float v;
  asm("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(at), "l"(policy));
  return v;
}
__global__ void sums(const float* x, float* y, int cols) {
  const float* row = x + static_cast<long>(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += load(row + i);
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
  __shared__ float parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) sum += parts[i];
  y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  static int aside;
  if (aside == 0) {
    cudaDeviceGetAttribute(&aside, cudaDevAttrMaxPersistingL2CacheSize, 0);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, aside);
  }
  sums<<<rows, 256>>>(x, y, cols);
}
