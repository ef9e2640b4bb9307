// Sums one field of records of eight: seven eighths of each sector are not used.
// dims: n=4194304
// tensor: x float32 n,8 in
// tensor: y float32 n out
// without STRIDED_ACCESS, other answers: as many values, one after another
// without ARITHMETIC, other answers: copies instead of computing
__global__ void field(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_STRIDED_ACCESS
  const float value = x[i];
#else
  const float value = x[size_t(i) * 8 + 3];
#endif
#ifdef WITHOUT_ARITHMETIC
  y[i] = value;
#else
  y[i] = value * value + 0.5f * value;
#endif
}
extern "C" void solve(const float* x, float* y, int n) {
  field<<<(n + 255) / 256, 256>>>(x, y, n);
}
