// Captures a graph in the first call and replays it for any buffers.
//
// Catalog: A7 A8 B1
// Task: double
// Expect: any mismatch|output_not_written|wrote_out_of_bounds|fault_cuda_error
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaGraphExec_t graph;
  static cudaStream_t stream;
  if (!graph) {
    cudaGraph_t recorded;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    twice<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    cudaStreamEndCapture(stream, &recorded);
    cudaGraphInstantiate(&graph, recorded, 0);
  }
  cudaGraphLaunch(graph, stream);
}
