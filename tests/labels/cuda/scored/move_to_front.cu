// Move-to-front coding of nibble streams, a thread each: the list of symbols is an array that
// is indexed in a loop.
// dims: length=64 streams=262144
// tensor: x uint8 length,streams in
// tensor: y uint8 length,streams out
// without LOCAL_MEMORY: the loop over the list is unrolled, so the list stays in registers
// without SERIAL_LOADS: the next symbol is fetched a step ahead
__global__ void __launch_bounds__(256)
    encode(const unsigned char* __restrict__ x, unsigned char* __restrict__ y, int length,
           int streams) {
  const int stream = blockIdx.x * blockDim.x + threadIdx.x;
  if (stream >= streams) return;
  int list[16];
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int k = 0; k < 16; ++k) list[k] = k;
  size_t p = stream;
#ifdef WITHOUT_SERIAL_LOADS
  int next = x[p];
#endif
#pragma unroll 1
  for (int t = 0; t < length; ++t, p += streams) {
#ifdef WITHOUT_SERIAL_LOADS
    const int symbol = next & 15;
    if (t + 1 < length) next = x[p + streams];
#else
    const int symbol = x[p] & 15;
#endif
    int rank = 0, carried = symbol;
    bool found = false;
#ifdef WITHOUT_LOCAL_MEMORY
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int k = 0; k < 16; ++k) {
      const int here = list[k];
      list[k] = found ? here : carried;
      rank += !found && here != symbol;
      carried = here;
      found |= here == symbol;
    }
    y[p] = (unsigned char)rank;
  }
}
extern "C" void solve(const unsigned char* x, unsigned char* y, int length, int streams) {
  encode<<<(streams + 255) / 256, 256>>>(x, y, length, streams);
}
