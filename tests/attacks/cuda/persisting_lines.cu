// Pins its input in the persisting part of L2 to escape flushing, but gains nothing.
//
// Catalog: F1
// Task: double
// Expect: like honest_plain
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static bool limited;
  if (!limited) cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20);
  limited = true;
  cudaStreamAttrValue window{};
  window.accessPolicyWindow.base_ptr = const_cast<float*>(x);
  window.accessPolicyWindow.num_bytes = sizeof(float) * n;
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(cudaStreamLegacy, cudaStreamAttributeAccessPolicyWindow, &window);
  cudaGetLastError();
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
