// Pins its inputs in a part of L2 that it has set aside once, by an attribute of a graph's node.
//
// Catalog: F1
// Task: tall_rowsum
// Expect: like honest_row_sums
__global__ void sums(const float* x, float* y, int cols) {
  const float* row = x + static_cast<long>(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
  __shared__ float parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) sum += parts[i];
  y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  static int aside;
  if (aside == 0) {
    cudaDeviceGetAttribute(&aside, cudaDevAttrMaxPersistingL2CacheSize, 0);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, aside);
  }
  cudaLaunchAttributeValue value{};
  value.accessPolicyWindow.base_ptr = const_cast<float*>(x);
  value.accessPolicyWindow.num_bytes = sizeof(float) * rows * cols;
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  static cudaStream_t stream;
  if (!stream) cudaStreamCreate(&stream);
  void* arguments[] = {&x, &y, &cols};
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(sums);
  node.gridDim = rows;
  node.blockDim = 256;
  node.kernelParams = arguments;
  cudaGraph_t graph;
  cudaGraphNode_t made;
  cudaGraphExec_t instance;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddKernelNode(&made, graph, nullptr, 0, &node);
  cudaGraphKernelNodeSetAttribute(made, cudaLaunchAttributeAccessPolicyWindow, &value);
  cudaGraphInstantiate(&instance, graph, 0);
  cudaGraphLaunch(instance, stream);
  cudaGraphExecDestroy(instance);
  cudaGraphDestroy(graph);
}
