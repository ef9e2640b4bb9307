// The lanes of a warp take eight different ways through the code.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without DIVERGENCE, other answers: the warps take different ways, the lanes of a warp the same
// without BYTES, other answers: does not read x from memory
template <int kWay>
__device__ float way(float v) {
  float a = v;
#pragma unroll 8
  for (int k = 0; k < 64; ++k) a = a * (0.5f + 0.01f * kWay) + v / (1.0f + kWay);
  return a;
}
__global__ void ways(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  const float v = 1e-6f * i;
#else
  const float v = x[i];
#endif
#ifdef WITHOUT_DIVERGENCE
  const int kind = i / 32 % 8;
#else
  const int kind = i % 8;
#endif
  float result = 0;
  switch (kind) {
    case 0:
      result = way<0>(v);
      break;
    case 1:
      result = way<1>(v);
      break;
    case 2:
      result = way<2>(v);
      break;
    case 3:
      result = way<3>(v);
      break;
    case 4:
      result = way<4>(v);
      break;
    case 5:
      result = way<5>(v);
      break;
    case 6:
      result = way<6>(v);
      break;
    default:
      result = way<7>(v);
  }
  y[i] = result;
}
extern "C" void solve(const float* x, float* y, int n) {
  ways<<<(n + 255) / 256, 256>>>(x, y, n);
}
