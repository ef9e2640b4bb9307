// Backward pass of dropout behind a sigmoid gate: kept gradients pass, by the gate's slope.
// dims: n=33554432
// tensor: grad float16 n in
// tensor: mask int32 n in
// tensor: dx float16 n out
// without BYTES, other answers: the mask is drawn again by hashing the index, not read
// without SPECIAL_FUNCTIONS, other answers: a slope by products instead of exponentials
#include <cuda_fp16.h>
__device__ float slope(float g) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return fmaf(g * g, -0.0625f, 0.25f);
#else
  const float gate = __fdividef(1.0f, 1 + __expf(-g));
  return gate * (1 - gate);
#endif
}
__global__ void __launch_bounds__(256)
    gate_backward(const uint4* __restrict__ grad, const int4* __restrict__ mask,
                  uint4* __restrict__ dx, int groups) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= groups) return;
  uint4 packed = grad[i];
  alignas(16) int draw[8];
#ifdef WITHOUT_BYTES
#pragma unroll
  for (int k = 0; k < 8; ++k) draw[k] = int((unsigned(8 * i + k) * 2654435761u) >> 16);
#else
  *reinterpret_cast<int4*>(draw) = mask[2 * i];
  *reinterpret_cast<int4*>(draw + 4) = mask[2 * i + 1];
#endif
  auto* pairs = reinterpret_cast<__half2*>(&packed);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 g = __half22float2(pairs[k]);
    const float first = draw[2 * k] & 7 ? 1.142857f : 0.0f;
    const float second = draw[2 * k + 1] & 7 ? 1.142857f : 0.0f;
    pairs[k] = __floats2half2_rn(first * g.x * slope(g.x), second * g.y * slope(g.y));
  }
  dx[i] = packed;
}
extern "C" void solve(const void* grad, const int* mask, void* dx, int n) {
  gate_backward<<<(n / 8 + 255) / 256, 256>>>(static_cast<const uint4*>(grad),
                                              reinterpret_cast<const int4*>(mask),
                                              static_cast<uint4*>(dx), n / 8);
}
