// A hundred values per thread where the launch bounds leave registers for thirty-two.
// dims: n=1048576
// tensor: x float32 n in
// tensor: y float32 n out
// without LOCAL_MEMORY: bounds that leave enough registers
// without BYTES, other answers: does not read x from memory
#ifdef WITHOUT_LOCAL_MEMORY
__global__ void __launch_bounds__(256, 1)
#else
__global__ void __launch_bounds__(256, 8)
#endif
    mixed(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_BYTES
  const float v = 1e-6f * i;
#else
  const float v = x[i];
#endif
  float parts[96];
#pragma unroll
  for (int k = 0; k < 96; ++k) parts[k] = v + 0.01f * k;
  for (int turn = 0; turn < 16; ++turn) {
#pragma unroll
    for (int k = 0; k < 96; ++k) parts[k] = parts[k] * 0.5f + parts[(k + 37) % 96] * 0.25f;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 96; ++k) sum += parts[k];
  y[i] = sum;
}
extern "C" void solve(const float* x, float* y, int n) {
  mixed<<<(n + 255) / 256, 256>>>(x, y, n);
}
