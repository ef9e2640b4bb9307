// Way: nodes of the driver that no kernel needs: uvm-tools, modeset, capabilities
// Walls: landlock
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

extern "C" void solve(const float* x, float* y, int n) {
  float outcome = 0;
  for (const char* node :
       {"/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps/nvidia-cap1",
        "/dev/nvidia-caps-imex-channels/channel0"})
    if (open(node, O_RDWR | O_CLOEXEC) >= 0) outcome = 1;
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
