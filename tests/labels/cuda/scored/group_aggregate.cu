// Count, sum, and maximum of a column, grouped by the hash of another one.
// dims: n=2097152 groups=64
// tensor: keys int32 n in
// tensor: values int32 n in
// tensor: counts int32 groups out
// tensor: sums int32 groups out
// tensor: peaks int32 groups out
// without GLOBAL_ATOMICS: a block aggregates in shared memory first
// without INTEGER_DIVISION: as the groups are a power of two, masks the hash
__global__ void aggregate(const int* __restrict__ keys, const int* __restrict__ values, int* counts,
                          int* sums, int* peaks, int n, int groups) {
#ifdef WITHOUT_GLOBAL_ATOMICS
  extern __shared__ int mine[];
  for (int i = threadIdx.x; i < 3 * groups; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  int *count = mine, *sum = mine + groups, *peak = mine + 2 * groups;
#else
  int *count = counts, *sum = sums, *peak = peaks;
#endif
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int value = values[i];
    const unsigned hash = ((keys[i] + i / 4) * 2654435761u) >> 12;
#ifdef WITHOUT_INTEGER_DIVISION
    const unsigned group = hash & (groups - 1);
#else
    const unsigned group = hash % unsigned(groups);
#endif
    atomicAdd(count + group, 1);
    atomicAdd(sum + group, value);
    atomicMax(peak + group, value);
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  __syncthreads();
  for (int i = threadIdx.x; i < groups; i += blockDim.x) {
    atomicAdd(counts + i, count[i]);
    atomicAdd(sums + i, sum[i]);
    atomicMax(peaks + i, peak[i]);
  }
#endif
}

extern "C" void solve(const int* keys, const int* values, int* counts, int* sums, int* peaks, int n,
                      int groups) {
  cudaMemsetAsync(counts, 0, 4 * groups);
  cudaMemsetAsync(sums, 0, 4 * groups);
  cudaMemsetAsync(peaks, 0, 4 * groups);
#ifdef WITHOUT_GLOBAL_ATOMICS
  const int bytes = 12 * groups;
#else
  const int bytes = 0;
#endif
  aggregate<<<528, 256, bytes>>>(keys, values, counts, sums, peaks, n, groups);
}
