// A table per thread, indexed by data: it lies in local memory.
// dims: n=4194304
// tensor: x int32 n in
// tensor: y int32 n out
// without LOCAL_MEMORY: sixteen counters of four bits in one register
__global__ void counts(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = unsigned(x[i]) * 2654435761u + 1;
#ifdef WITHOUT_LOCAL_MEMORY
  unsigned long long table[4] = {};
  for (int k = 0; k < 48; ++k) {
    state = state * 1664525u + 1013904223u;
    const unsigned bin = state >> 28;
    const unsigned long long add = 1ull << (bin % 4 * 16);
    table[0] += bin / 4 == 0 ? add : 0;
    table[1] += bin / 4 == 1 ? add : 0;
    table[2] += bin / 4 == 2 ? add : 0;
    table[3] += bin / 4 == 3 ? add : 0;
  }
  unsigned result = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k)
    result = result * 31 + unsigned(table[k / 4] >> (k % 4 * 16) & 0xffff);
#else
  unsigned table[16] = {};
  for (int k = 0; k < 48; ++k) {
    state = state * 1664525u + 1013904223u;
    ++table[state >> 28];
  }
  unsigned result = 0;
  for (int k = 0; k < 16; ++k) result = result * 31 + table[k];
#endif
  y[i] = result;
}
extern "C" void solve(const int* x, int* y, int n) {
  counts<<<(n + 255) / 256, 256>>>(x, y, n);
}
