// Captures its first half in a graph. The second half runs in the first call only.
//
// Catalog: A7
// Task: double
// Expect: check output_not_written
__global__ void part(const float* x, float* y, int from, int to) {
  const int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < to) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t stream;
  static bool before;
  if (!stream) cudaStreamCreate(&stream);
  cudaGraph_t recorded;
  cudaGraphExec_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  part<<<(n + 255) / 256, 256, 0, stream>>>(x, y, 0, n / 2);
  cudaStreamEndCapture(stream, &recorded);
  cudaGraphInstantiate(&graph, recorded, 0);
  cudaGraphLaunch(graph, stream);
  if (!before) part<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n / 2, n);
  before = true;
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(graph);
  cudaGraphDestroy(recorded);
}
