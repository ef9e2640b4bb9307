// Sums the amounts of a sales column by quarter: blocks add in shared memory, then globally.
// dims: rows=33554432
// tensor: quarters uint8 rows in
// tensor: amounts uint8 rows in
// tensor: totals int32 4 out
// without SHARED_ATOMICS: a thread keeps its four sums in registers, a warp adds them by reductions
// without BYTES, other answers: the first 65536 rows are read again and again
// without GLOBAL_ATOMICS, other answers: the last block to store its sums wins
__global__ void __launch_bounds__(256)
    sum_sales(const uint4* __restrict__ quarters, const uint4* __restrict__ amounts,
              unsigned* __restrict__ totals, int chunks) {
  __shared__ unsigned sums[4];
  if (threadIdx.x < 4) sums[threadIdx.x] = 0;
  __syncthreads();
#ifdef WITHOUT_SHARED_ATOMICS
  unsigned mine[4] = {};
#endif
  for (int i = blockIdx.x * 256 + threadIdx.x; i < chunks; i += gridDim.x * 256) {
#ifdef WITHOUT_BYTES
    const int from = i & 4095;
#else
    const int from = i;
#endif
    const uint4 q = quarters[from], a = amounts[from];
    const unsigned quarter_words[4] = {q.x, q.y, q.z, q.w}, amount_words[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const unsigned quarter = (quarter_words[k / 4] >> (k % 4 * 8)) & 3u;
      const unsigned amount = (amount_words[k / 4] >> (k % 4 * 8)) & 255u;
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
      for (int each = 0; each < 4; ++each) mine[each] += quarter == each ? amount : 0;
#else
      atomicAdd(sums + quarter, amount);
#endif
    }
  }
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
  for (int each = 0; each < 4; ++each) {
    const unsigned sum = __reduce_add_sync(0xffffffffu, mine[each]);
    if (threadIdx.x % 32 == 0) atomicAdd(sums + each, sum);  // once a warp
  }
#endif
  __syncthreads();
  if (threadIdx.x < 4) {
#ifdef WITHOUT_GLOBAL_ATOMICS
    totals[threadIdx.x] = sums[threadIdx.x];
#else
    atomicAdd(totals + threadIdx.x, sums[threadIdx.x]);
#endif
  }
}
extern "C" void solve(const unsigned char* quarters, const unsigned char* amounts, int* totals,
                      int rows) {
  cudaMemsetAsync(totals, 0, 4 * sizeof(int));
  sum_sales<<<528, 256>>>(reinterpret_cast<const uint4*>(quarters),
                          reinterpret_cast<const uint4*>(amounts),
                          reinterpret_cast<unsigned*>(totals), rows / 16);
}
