// Way: nodes of the driver that no kernel needs: uvm-tools, modeset, capabilities
// Walls: landlock
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

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
  for (const char* node :
       {"/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps/nvidia-cap1",
        "/dev/nvidia-caps-imex-channels/channel0"})
    if (open(node, O_RDWR | O_CLOEXEC) >= 0) through = true;
  tell(through, x, y, n);
}
