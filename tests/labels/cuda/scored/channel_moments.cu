// Partial sums and sums of squares of the channels of a batch norm; all threads of a block add
// to two floats in shared memory.
// dims: channels=256 parts=32 width=4096
// tensor: x float32 channels,parts,width in
// tensor: total float32 channels,parts out
// tensor: squares float32 channels,parts out
// without SHARED_ATOMICS: warps add up their lanes first, and one lane adds to shared memory
// without NARROW_ACCESS: four elements per load
__device__ __forceinline__ void add(float& total, float& squares, float v) {
  total += v;
  squares += v * v;
}
__global__ void __launch_bounds__(256)
    moments(const float* __restrict__ x, float* __restrict__ total, float* __restrict__ squares,
            int width) {
  __shared__ float sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const float* row = x + (size_t(blockIdx.y) * gridDim.x + blockIdx.x) * width;
  float a = 0, b = 0;
  for (int first = 0; first < width; first += 4096) {
#ifdef WITHOUT_NARROW_ACCESS
    if (width % 4 == 0 && first + 4096 <= width) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float4 v =
            *reinterpret_cast<const float4*>(row + first + 4 * (threadIdx.x + 256 * k));
        add(a, b, v.x);
        add(a, b, v.y);
        add(a, b, v.z);
        add(a, b, v.w);
      }
      continue;
    }
#endif
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const int i = first + threadIdx.x + 256 * k;
      add(a, b, i < width ? row[i] : 0.0f);
    }
  }
#ifdef WITHOUT_SHARED_ATOMICS
  for (int lanes = 16; lanes; lanes /= 2) {
    a += __shfl_xor_sync(~0u, a, lanes);
    b += __shfl_xor_sync(~0u, b, lanes);
  }
  if (threadIdx.x % 32 == 0)
#endif
  {
    atomicAdd(&sums[0], a);
    atomicAdd(&sums[1], b);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    total[blockIdx.y * gridDim.x + blockIdx.x] = sums[0];
    squares[blockIdx.y * gridDim.x + blockIdx.x] = sums[1];
  }
}
extern "C" void solve(const float* x, float* total, float* squares, int channels, int parts,
                      int width) {
  moments<<<dim3(parts, channels), 256>>>(x, total, squares, width);
}
