// Switching energy on a bus of eight lines, summed separately for each number of lines that are
// set. A word has four bytes that went over the bus one after another.
// dims: words=16777216 classes=9
// tensor: traffic uint32 words in
// tensor: energy int32 classes out
// without SHARED_ATOMICS: each thread has sums of its own in shared memory
// without GLOBAL_ATOMICS: blocks store their sums, a second kernel adds them
// without BYTES, other answers: the first 4096 words are read again and again
constexpr int kClasses = 9, kBlocks = 792;
__device__ int sums_of_blocks[kBlocks * kClasses];
__global__ void __launch_bounds__(32) clear(int* energy, int classes) {
  if (threadIdx.x < classes) energy[threadIdx.x] = 0;
}
__global__ void __launch_bounds__(256)
    toggles(const uint4* __restrict__ traffic, int* __restrict__ energy, int quads) {
  __shared__ int sums[kClasses];
  if (threadIdx.x < kClasses) sums[threadIdx.x] = 0;
#ifdef WITHOUT_SHARED_ATOMICS
  __shared__ int own[kClasses * 256];
#pragma unroll
  for (int c = 0; c < kClasses; ++c) own[c * 256 + threadIdx.x] = 0;
#endif
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < quads; i += gridDim.x * 256) {
#ifdef WITHOUT_BYTES
    const uint4 four = traffic[i & 1023];
#else
    const uint4 four = traffic[i];
#endif
    const unsigned each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned byte = each[w] >> 8 * k & 255;
        const int set = __popc(byte), cost = (byte ^ byte >> 4) & 15;
#ifdef WITHOUT_SHARED_ATOMICS
        own[set * 256 + threadIdx.x] += cost;
#else
        atomicAdd(&sums[set], cost);
#endif
      }
  }
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
  for (int c = 0; c < kClasses; ++c) {
    const int sum = __reduce_add_sync(~0u, own[c * 256 + threadIdx.x]);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[c], sum);
  }
#endif
  __syncthreads();
  if (threadIdx.x < kClasses) {
#ifdef WITHOUT_GLOBAL_ATOMICS
    sums_of_blocks[threadIdx.x * kBlocks + blockIdx.x] = sums[threadIdx.x];
#else
    atomicAdd(&energy[threadIdx.x], sums[threadIdx.x]);
#endif
  }
}
#ifdef WITHOUT_GLOBAL_ATOMICS
__global__ void __launch_bounds__(32) add_up(int* __restrict__ energy) {
  int sum = 0;
  for (int b = threadIdx.x; b < kBlocks; b += 32) sum += sums_of_blocks[blockIdx.x * kBlocks + b];
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x == 0) energy[blockIdx.x] = sum;
}
#endif
extern "C" void solve(const unsigned* traffic, int* energy, int words, int classes) {
#ifdef WITHOUT_GLOBAL_ATOMICS
  toggles<<<kBlocks, 256>>>(reinterpret_cast<const uint4*>(traffic), energy, words / 4);
  add_up<<<classes, 32>>>(energy);
#else
  clear<<<1, 32>>>(energy, classes);
  toggles<<<kBlocks, 256>>>(reinterpret_cast<const uint4*>(traffic), energy, words / 4);
#endif
}
