// Decodes a dictionary-encoded column, the dictionary in shared memory.
// dims: n=8388608 entries=16384
// tensor: codes int32 n in
// tensor: dictionary int32 entries in
// tensor: y int32 n out
// without LOW_OCCUPANCY: 1024 threads share a dictionary, not 64
// without BANK_CONFLICTS, other answers: a lane looks up entries of its own bank
#ifdef WITHOUT_LOW_OCCUPANCY
constexpr int kThreads = 1024;
#else
constexpr int kThreads = 64;
#endif

__global__ void __launch_bounds__(kThreads)
    decode(const int* __restrict__ codes, const int* __restrict__ dictionary, int* __restrict__ y,
           int n, int entries) {
  extern __shared__ int words[];
  for (int i = threadIdx.x; i < entries; i += kThreads) words[i] = dictionary[i];
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    unsigned code = unsigned(codes[i]) & (entries - 1);
#ifdef WITHOUT_BANK_CONFLICTS
    code = (code & ~31u) | threadIdx.x % 32;
#endif
    y[i] = words[code];
  }
}

extern "C" void solve(const int* codes, const int* dictionary, int* y, int n, int entries) {
  int device, multiprocessors, blocks;
  const int bytes = 4 * entries;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(decode, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, decode, kThreads, bytes);
  decode<<<blocks * multiprocessors, kThreads, bytes>>>(codes, dictionary, y, n, entries);
}
