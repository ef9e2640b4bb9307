// Needs half of its input, and reads that.
//
// Catalog: honest
// Task: half
// Expect: pass
__global__ void twice(const float4* x, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  y[i] = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<(n / 4 + 255) / 256, 256>>>(reinterpret_cast<const float4*>(x),
                                      reinterpret_cast<float4*>(y), n / 4);
}
