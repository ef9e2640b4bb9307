// Unpacks 4-bit weights whose sixteen levels lie in constant memory, where the lanes of a warp
// ask for different ones.
// dims: groups=1048576
// tensor: packed uint8 groups,32 in
// tensor: scale float32 groups in
// tensor: y float16 groups,64 out
// without CONSTANT_CACHE: the levels lie in shared memory
// without NARROW_ACCESS: sixteen bytes of packed weights per load
// without REPEATED_READS, other answers: one scale for all weights
#include <cuda_fp16.h>
__constant__ float level[16] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491749f,
                                -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
                                0.07958030f,  0.16093020f,  0.24611230f,  0.33791524f,
                                0.44070983f,  0.56261700f,  0.72295684f,  1.0f};
#ifdef WITHOUT_NARROW_ACCESS
constexpr int WORDS = 4;
#else
constexpr int WORDS = 1;
#endif
__global__ void __launch_bounds__(256)
    unpack(const unsigned* __restrict__ packed, const float* __restrict__ scale,
           __half* __restrict__ y, long long n) {
#ifdef WITHOUT_CONSTANT_CACHE
  __shared__ float value[16];
  if (threadIdx.x < 16) value[threadIdx.x] = level[threadIdx.x];
  __syncthreads();
#else
  const float* value = level;
#endif
  const long long i = (blockIdx.x * 256ll + threadIdx.x) * 8 * WORDS;
  if (i >= n) return;
#ifdef WITHOUT_REPEATED_READS
  const float s = 0.5f;
#else
  const float s = scale[i / 64];
#endif
  __align__(16) unsigned word[WORDS];
  if constexpr (WORDS == 4)
    *reinterpret_cast<uint4*>(word) = *reinterpret_cast<const uint4*>(packed + i / 8);
  else
    word[0] = packed[i / 8];
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    __align__(16) __half2 out[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float a = value[word[w] >> 8 * k & 15], b = value[word[w] >> (8 * k + 4) & 15];
      out[k] = __floats2half2_rn(s * a, s * b);
    }
    *reinterpret_cast<uint4*>(y + i + 8 * w) = *reinterpret_cast<uint4*>(out);
  }
}
extern "C" void solve(const unsigned char* packed, const float* scale, __half* y, int groups) {
  const long long threads = groups * (8ll / WORDS);
  unpack<<<unsigned((threads + 255) / 256), 256>>>(reinterpret_cast<const unsigned*>(packed), scale,
                                                   y, 64ll * groups);
}
