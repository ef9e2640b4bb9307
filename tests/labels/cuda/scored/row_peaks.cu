// The largest magnitude of each row, as scales of a quantizer need it: every element goes to
// its row by an atomic maximum.
// dims: rows=4096 cols=4096
// tensor: x float32 rows,cols in
// tensor: peak float32 rows out
// without GLOBAL_ATOMICS: a warp reduces first, and only one of its lanes goes to memory
// without SERIAL_LOADS: the next element is fetched before this one is used
__global__ void __launch_bounds__(256) peaks(const float* __restrict__ x, int* __restrict__ peak,
                                             unsigned n, unsigned factor, int shift) {
  const unsigned step = gridDim.x * 256;
#ifdef WITHOUT_SERIAL_LOADS
  float next = blockIdx.x * 256 + threadIdx.x < n ? x[blockIdx.x * 256 + threadIdx.x] : 0.0f;
#endif
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i - threadIdx.x % 32 < n; i += step) {
    // The quotient of i and the number of columns.
    const unsigned row = ((unsigned long long)__umulhi(i, factor) + i) >> shift;
#ifdef WITHOUT_SERIAL_LOADS
    const float v = next;
    next = i + step < n ? x[i + step] : 0.0f;
#else
    const float v = i < n ? x[i] : 0.0f;
#endif
    const int magnitude = __float_as_int(fabsf(v));
#ifdef WITHOUT_GLOBAL_ATOMICS
    const unsigned ahead = __shfl_sync(~0u, row, 0), last = __shfl_sync(~0u, row, 31);
    if (ahead == last) {
      const int most = __reduce_max_sync(~0u, magnitude);
      if (threadIdx.x % 32 == 0) atomicMax(peak + row, most);
    } else if (i < n) {
      atomicMax(peak + row, magnitude);
    }
#else
    if (i < n) atomicMax(peak + row, magnitude);
#endif
  }
}
extern "C" void solve(const float* x, float* peak, int rows, int cols) {
  int shift = 0;
  while ((1ll << shift) < cols) ++shift;
  const unsigned factor = unsigned(((1ull << 32) * ((1ull << shift) - cols)) / cols + 1);
  cudaMemsetAsync(peak, 0, sizeof(float) * rows);
  peaks<<<132 * 8, 256>>>(x, reinterpret_cast<int*>(peak), unsigned(rows) * cols, factor, shift);
}
