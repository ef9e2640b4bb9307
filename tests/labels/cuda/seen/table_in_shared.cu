// Passes values around a block through shared memory at every step, without conflicts.
// dims: n=4194304
// tensor: x float32 n in
// tensor: y float32 n out
// without SHARED_TRAFFIC, other answers: as many additions of a value of its own
// without BYTES, other answers: does not read x from memory
__global__ void __launch_bounds__(256) around(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_BYTES
  float v = 1e-6f * i;
#else
  float v = i < n ? x[i] : 0;
#endif
#ifdef WITHOUT_SHARED_TRAFFIC
  const float first = v;
#pragma unroll 32
  for (int k = 0; k < 256; ++k) v = v * 0.5f + first;
#else
  __shared__ float ring[256];
  ring[threadIdx.x] = v;
  __syncwarp();
  v = 0;
  const int lane = threadIdx.x % 32;
  const float* own = ring + threadIdx.x / 32 * 32;
  for (int round = 0; round < 8; ++round) {
#pragma unroll
    for (int k = 0; k < 32; ++k) v += *(volatile const float*)(own + (lane + k) % 32);
  }
#endif
  if (i < n) y[i] = v;
}
extern "C" void solve(const float* x, float* y, int n) {
  around<<<(n + 255) / 256, 256>>>(x, y, n);
}
