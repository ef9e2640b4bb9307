// Quantizes fp16 activations to int8 with a scale per column, one element and so two bytes per
// thread.
// dims: rows=16384 cols=4096
// tensor: x float16 rows,cols in
// tensor: scale float32 cols in
// tensor: q int8 rows,cols out
// without NARROW_ACCESS: eight elements per thread in one load and one store
// without BYTES, other answers: all rows are written over the first 256
#include <cuda_fp16.h>
__device__ __forceinline__ signed char quantized(__half v, float scale) {
  const float t = __fdividef(__half2float(v), fabsf(scale) + 0.01f);
  return (signed char)__float2int_rn(fminf(127.0f, fmaxf(-127.0f, 16.0f * t)));
}
__global__ void quantize(const __half* __restrict__ x, const float* __restrict__ scale,
                         signed char* __restrict__ q, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t i = size_t(blockIdx.y) * cols + col;
#ifdef WITHOUT_BYTES
  const size_t to = size_t(blockIdx.y % 256) * cols + col;
#else
  const size_t to = i;
#endif
  if (col < cols) q[to] = quantized(x[i], scale[col]);
}
__global__ void quantize_eight(const uint4* __restrict__ x, const float4* __restrict__ scale,
                               uint2* __restrict__ q, int eighths) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= eighths) return;
  const size_t i = size_t(blockIdx.y) * eighths + col;
  const uint4 in = x[i];
  const float4 s[2] = {scale[2 * col], scale[2 * col + 1]};
  const __half* v = reinterpret_cast<const __half*>(&in);
  const float* each = reinterpret_cast<const float*>(s);
  signed char out[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) out[k] = quantized(v[k], each[k]);
  uint2 packed;
  memcpy(&packed, out, 8);
  q[i] = packed;
}
extern "C" void solve(const __half* x, const float* scale, signed char* q, int rows, int cols) {
#ifdef WITHOUT_NARROW_ACCESS
  if (cols % 8 == 0) {
    quantize_eight<<<dim3((cols / 8 + 127) / 128, rows), 128>>>(
        (const uint4*)x, (const float4*)scale, (uint2*)q, cols / 8);
    return;
  }
#endif
  quantize<<<dim3((cols + 255) / 256, rows), 256>>>(x, scale, q, cols);
}
