// Records its launch into a graph in every call, updates the executable graph and launches it.
//
// Catalog: honest
// Task: double
// Expect: pass
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t stream;
  static cudaGraphExec_t graph;
  if (!stream) cudaStreamCreate(&stream);
  cudaGraph_t recorded;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  twice<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  cudaStreamEndCapture(stream, &recorded);
  cudaGraphExecUpdateResultInfo info;
  if (!graph || cudaGraphExecUpdate(graph, recorded, &info) != cudaSuccess) {
    if (graph) cudaGraphExecDestroy(graph);
    cudaGraphInstantiate(&graph, recorded, 0);
  }
  cudaGraphLaunch(graph, stream);
  cudaGraphDestroy(recorded);
}
