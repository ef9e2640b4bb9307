// Vector quantization: which of 256 codewords of eight numbers is nearest to each vector. A thread
// has a codeword; the least of the distances goes down a tree in shared memory.
// dims: vectors=131072
// tensor: vector float32 vectors,8 in
// tensor: codeword float32 256,8 in
// tensor: nearest int32 vectors out
// without TREE_IN_SHARED: the warps find their least by reductions of the warp, one barrier
// without SERIAL_LOADS: the next vector is fetched ahead
// without ARITHMETIC, other answers: the distance counts two of the eight numbers
__global__ void __launch_bounds__(256, 6)
    quantize(const float4* __restrict__ vector, const float4* __restrict__ codeword,
             int* __restrict__ nearest, int vectors) {
#ifdef WITHOUT_TREE_IN_SHARED
  __shared__ unsigned least[2][8];
  int turn = 0;
#else
  __shared__ unsigned least[256];
#endif
  const unsigned t = threadIdx.x;
  const float4 c = codeword[2 * t], d = codeword[2 * t + 1];
#ifdef WITHOUT_SERIAL_LOADS
  float4 a = vector[2 * blockIdx.x], b = vector[2 * blockIdx.x + 1];
#endif
#pragma unroll 1
  for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
#ifdef WITHOUT_SERIAL_LOADS
    const int next = v + gridDim.x < vectors ? v + gridDim.x : v;
    const float4 a1 = vector[2 * next], b1 = vector[2 * next + 1];
#else
    const float4 a = vector[2 * v], b = vector[2 * v + 1];
#endif
    float distance = 0, by;
    by = a.x - c.x, distance = __fmaf_rn(by, by, distance);
    by = b.w - d.w, distance = __fmaf_rn(by, by, distance);
#ifndef WITHOUT_ARITHMETIC
    by = a.y - c.y, distance = __fmaf_rn(by, by, distance);
    by = a.z - c.z, distance = __fmaf_rn(by, by, distance);
    by = a.w - c.w, distance = __fmaf_rn(by, by, distance);
    by = b.x - d.x, distance = __fmaf_rn(by, by, distance);
    by = b.y - d.y, distance = __fmaf_rn(by, by, distance);
    by = b.z - d.z, distance = __fmaf_rn(by, by, distance);
#endif
    const unsigned own = (__float_as_uint(distance) & ~255u) | t;
#ifdef WITHOUT_TREE_IN_SHARED
    const unsigned of_warp = __reduce_min_sync(~0u, own);
    if (t % 32 == 0) least[turn][t / 32] = of_warp;
    __syncthreads();
    if (t < 32) {
      const unsigned of_all = __reduce_min_sync(~0u, least[turn][t & 7]);
      if (t == 0) nearest[v] = of_all & 255;
    }
    turn ^= 1;
#else
    least[t] = own;
    __syncthreads();
#pragma unroll 1
    for (unsigned half = 128; half > 0; half /= 2) {
      if (t < half) least[t] = min(least[t], least[t + half]);
      __syncthreads();
    }
    if (t == 0) nearest[v] = least[0] & 255;
#endif
#ifdef WITHOUT_SERIAL_LOADS
    a = a1;
    b = b1;
#endif
  }
}
extern "C" void solve(const float* vector, const float* codeword, int* nearest, int vectors) {
  quantize<<<1056, 256>>>((const float4*)vector, (const float4*)codeword, nearest, vectors);
}
