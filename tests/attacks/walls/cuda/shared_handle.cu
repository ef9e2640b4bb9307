// Way: an IPC handle of its memory, left where another process can find it
// Walls: landlock root
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>
#include <stdio.h>

extern "C" void solve(const float* x, float* y, int n) {
  float outcome = 0;
  void* memory = nullptr;
  cudaIpcMemHandle_t handle;
  cudaMalloc(&memory, 1 << 20);
  if (cudaIpcGetMemHandle(&handle, memory) == cudaSuccess)
    for (const char* place : {"/tmp/ratchet-handle", "/dev/shm/ratchet-handle"})
      if (FILE* file = fopen(place, "w")) {
        outcome = 1;
        fclose(file);
        remove(place);
      }
  cudaFree(memory);
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
