// Decodes a column of a database: running sums of the deltas within each page of 32 values.
// dims: n=16777216
// tensor: delta int32 n in
// tensor: value int32 n out
// without BANK_CONFLICTS: a word of padding after each page
// without BARRIERS: each warp waits for itself alone, as its pages are its own
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int kPage = 33;
#else
constexpr int kPage = 32;
#endif
__device__ void wait() {
#ifdef WITHOUT_BARRIERS
  __syncwarp();
#else
  __syncthreads();
#endif
}
__global__ void __launch_bounds__(128)
    decode_pages(const int* __restrict__ delta, int* __restrict__ value) {
  __shared__ int pages[128 * kPage];
  const int lane = threadIdx.x % 32, first = threadIdx.x - lane;
  const size_t base = size_t(blockIdx.x) * 4096 + first * 32;
#pragma unroll
  for (int k = 0; k < 32; ++k) pages[(first + k) * kPage + lane] = delta[base + k * 32 + lane];
  wait();
  int sum = 0;
#pragma unroll 4
  for (int k = 0; k < 32; ++k) {
    sum += pages[threadIdx.x * kPage + k];
    pages[threadIdx.x * kPage + k] = sum;
  }
  wait();
#pragma unroll
  for (int k = 0; k < 32; ++k) value[base + k * 32 + lane] = pages[(first + k) * kPage + lane];
}
extern "C" void solve(const int* delta, int* value, int n) {
  decode_pages<<<n / 4096, 128>>>(delta, value);
}
