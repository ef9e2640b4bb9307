// Strength of the gradients in each of eight orientations, per cell of 2048 pixels of an image.
// dims: n=2097152 cells=1024 bins=8
// tensor: angles uint8 n in
// tensor: strengths uint8 n in
// tensor: y int32 cells,bins out
// without SHARED_ATOMICS: a thread adds up its pixels in registers, a warp by one reduction per bin
// without INTEGER_DIVISION: the bin of an angle is a mask of its bits, as the bins are eight
__global__ void __launch_bounds__(256)
    cells_of(const uint2* __restrict__ angles, const uint2* __restrict__ strengths,
             int* __restrict__ y, int bins) {
  __shared__ int sums[8];
  if (threadIdx.x < 8) sums[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  const uint2 angle = angles[i], strength = strengths[i];
#ifdef WITHOUT_SHARED_ATOMICS
  int mine[8] = {};
#endif
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const unsigned a = (k < 4 ? angle.x : angle.y) >> k % 4 * 8 & 255;
    const unsigned s = (k < 4 ? strength.x : strength.y) >> k % 4 * 8 & 255;
    // Three of four pixels are those of flat or of horizontal places.
#ifdef WITHOUT_INTEGER_DIVISION
    const unsigned bin = a < 192 ? 0 : a & 7;
#else
    const unsigned bin = a < 192 ? 0 : a % unsigned(bins);
#endif
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
    for (int b = 0; b < 8; ++b) mine[b] += bin == b ? s : 0;
#else
    atomicAdd(sums + bin, int(s));
#endif
  }
#ifdef WITHOUT_SHARED_ATOMICS
#pragma unroll
  for (int b = 0; b < 8; ++b) {
    const int sum = __reduce_add_sync(~0u, mine[b]);
    if (threadIdx.x % 32 == 0) atomicAdd(sums + b, sum);
  }
#endif
  __syncthreads();
  if (threadIdx.x < 8) y[blockIdx.x * 8 + threadIdx.x] = sums[threadIdx.x];
}

extern "C" void solve(const unsigned char* angles, const unsigned char* strengths, int* y, int n,
                      int cells, int bins) {
  cells_of<<<cells, 256>>>(reinterpret_cast<const uint2*>(angles),
                           reinterpret_cast<const uint2*>(strengths), y, bins);
}
