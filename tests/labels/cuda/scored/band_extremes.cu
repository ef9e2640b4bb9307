// Smallest and largest value of each of the twelve bands of a satellite image, as integers that are
// in the order of the floats; a block per band.
// dims: bands=12 pixels=2097152
// tensor: image float32 bands,pixels in
// tensor: extremes int32 bands,2 out
// without FEW_BLOCKS: twenty-two blocks share a band
// without BYTES, other answers: each band has the same few thousand pixels again and again
// without LAUNCHES, other answers: the extremes are not cleared beforehand
__device__ __forceinline__ int in_order(float x) {
  const int bits = __float_as_int(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__global__ void __launch_bounds__(1024)
    find_extremes(const float4* __restrict__ image, int* __restrict__ extremes, int quads) {
  __shared__ int lowest[32], highest[32];
  const float4* band = image + size_t(blockIdx.y) * quads;
  int low = 0x7fffffff, high = -0x7fffffff;
#pragma unroll 4
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < quads; i += gridDim.x * 1024) {
#ifdef WITHOUT_BYTES
    const float4 four = band[i & 4095];
#else
    const float4 four = band[i];
#endif
    const int a = in_order(four.x), b = in_order(four.y), c = in_order(four.z),
              d = in_order(four.w);
    low = min(low, min(min(a, b), min(c, d)));
    high = max(high, max(max(a, b), max(c, d)));
  }
  low = __reduce_min_sync(~0u, low);
  high = __reduce_max_sync(~0u, high);
  if (threadIdx.x % 32 == 0) {
    lowest[threadIdx.x / 32] = low;
    highest[threadIdx.x / 32] = high;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    low = __reduce_min_sync(~0u, lowest[threadIdx.x]);
    high = __reduce_max_sync(~0u, highest[threadIdx.x]);
    if (threadIdx.x == 0) {
      atomicMax(extremes + 2 * blockIdx.y, -low);
      atomicMax(extremes + 2 * blockIdx.y + 1, high);
    }
  }
}
extern "C" void solve(const float* image, int* extremes, int bands, int pixels) {
#ifndef WITHOUT_LAUNCHES
  cudaMemsetAsync(extremes, 0x80, sizeof(int) * 2 * bands);
#endif
#ifdef WITHOUT_FEW_BLOCKS
  const int share = 22;
#else
  const int share = 1;
#endif
  find_extremes<<<dim3(share, bands), 1024>>>((const float4*)image, extremes, pixels / 4);
}
