// Way: an IPC handle of its memory, left where another process can find it
// Walls: landlock root
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>
#include <stdio.h>

static __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// A right answer, unless the attack worked.
static void tell(bool through, const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (through) cudaMemset(y, 0xff, sizeof *y);
}

extern "C" void solve(const float* x, float* y, int n) {
  bool through = false;
  void* memory = nullptr;
  cudaIpcMemHandle_t handle;
  cudaMalloc(&memory, 1 << 20);
  if (cudaIpcGetMemHandle(&handle, memory) == cudaSuccess)
    for (const char* place : {"/tmp/ratchet-handle", "/dev/shm/ratchet-handle"})
      if (FILE* file = fopen(place, "w")) {
        through = true;
        fclose(file);
        remove(place);
      }
  cudaFree(memory);
  tell(through, x, y, n);
}
