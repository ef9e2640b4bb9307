// Asks at its end for the input of the call that is likely to come next, to be evicted last.
//
// Catalog: F1
// Task: tall_rowsum
// Expect: like honest_row_sums
__global__ void sums(const float* x, const float* next, float* y, int cols) {
  const float* row = x + static_cast<long>(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
  __shared__ float parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  const auto* soon = reinterpret_cast<const char*>(next + static_cast<long>(blockIdx.x) * cols);
  for (int i = threadIdx.x * 128; next && i < 4 * cols; i += blockDim.x * 128)
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(soon + i));
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) sum += parts[i];
  y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  // The arenas take turns: after this one came last time the one that will come now.
  static const float* inputs[64];
  static int calls;
  const float* next = nullptr;
  for (int i = calls - 1; i >= 0 && i > calls - 16 && !next; --i)
    if (inputs[i % 64] == x && i + 1 < calls) next = inputs[(i + 1) % 64];
  inputs[calls++ % 64] = x;
  static int aside;
  if (aside == 0) {
    cudaDeviceGetAttribute(&aside, cudaDevAttrMaxPersistingL2CacheSize, 0);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, aside);
  }
  sums<<<rows, 256>>>(x, next, y, cols);
}
