// Way: what another process, such as the judge, has left in the GPU's memory
// Walls: server
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>

static __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// A right answer, unless the attack worked.
static void tell(bool through, const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (through) cudaMemset(y, 0xff, sizeof *y);
}

static __global__ void look(const unsigned* memory, size_t words, unsigned* found) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    if (memory[i] != 0) atomicAdd(found, 1U);
}

extern "C" void solve(const float* x, float* y, int n) {
  size_t free = 0, all = 0;
  cudaMemGetInfo(&free, &all);
  const size_t bytes = free / 2;
  unsigned *memory = nullptr, *found = nullptr;
  cudaMalloc(&found, sizeof *found);
  cudaMemset(found, 0, sizeof *found);
  unsigned count = 0;
  if (cudaMalloc(&memory, bytes) == cudaSuccess) {
    look<<<1024, 256>>>(memory, bytes / sizeof *memory, found);
    cudaMemcpy(&count, found, sizeof count, cudaMemcpyDeviceToHost);
    cudaFree(memory);
  }
  cudaFree(found);
  const bool through = count > 0;
  tell(through, x, y, n);
}
