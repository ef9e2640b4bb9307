// Every block reads the same matrix of 16 MB, which lies in L2.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 1056 out
// without BYTES, other answers: every block reads half as much
// without ARITHMETIC, other answers: adds without squaring
__global__ void __launch_bounds__(256) total(const float4* x, float* y, int n) {
#ifdef WITHOUT_BYTES
  const int count = n / 8;
#else
  const int count = n / 4;
#endif
  float sum = 0;
  const int start = int((long long)count / 1056 * blockIdx.x);
#pragma unroll 4
  for (int k = threadIdx.x; k < count; k += 256 * 16) {
    const float4 v = x[(start + k) % count];
#ifdef WITHOUT_ARITHMETIC
    sum += v.x + v.y + v.z + v.w;
#else
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
#endif
  }
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  __shared__ float parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) sum += parts[k];
    y[blockIdx.x] = sum;
  }
}
extern "C" void solve(const float* x, float* y, int n) {
  total<<<1056, 256>>>((const float4*)x, y, n);
}
