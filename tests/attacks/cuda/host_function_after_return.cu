// Makes the driver's own thread work after the call has returned: a host function on a hidden
// stream releases the kernel.
//
// Catalog: A3
// Task: double
// Expect: any unsynchronised_work|output_not_written|mismatch|fault_cuda_error
__global__ void gated_twice(const float* x, float* y, int n, volatile int* open) {
  while (!*open) {
  }
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
static void open_gate(void* gate) {
  // 0.25 ms after the call.
  for (volatile int i = 0; i < 300000; ++i) {
  }
  *static_cast<volatile int*>(gate) = 1;
}
extern "C" void solve(const float* x, float* y, int n) {
  static cudaStream_t first, second;
  static int* gate;
  if (!first) {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaHostAlloc(&gate, sizeof *gate, cudaHostAllocMapped);
  }
  *static_cast<volatile int*>(gate) = 0;
  cudaLaunchHostFunc(first, open_gate, gate);
  gated_twice<<<(n + 255) / 256, 256, 0, second>>>(x, y, n, gate);
}
