// Caches a graph by size alone; it contains the pointers of the first call.
//
// Catalog: A8
// Task: double
// Expect: any mismatch|output_not_written|wrote_out_of_bounds|fault_cuda_error
#include <map>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static std::map<int, cudaGraphExec_t> graphs;
  static cudaStream_t stream;
  if (!stream) cudaStreamCreate(&stream);
  auto& graph = graphs[n];
  if (!graph) {
    cudaGraph_t recorded;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    twice<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    cudaStreamEndCapture(stream, &recorded);
    cudaGraphInstantiate(&graph, recorded, 0);
  }
  cudaGraphLaunch(graph, stream);
}
