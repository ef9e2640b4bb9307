// Way: nodes of the driver that no kernel needs: uvm-tools, modeset, capabilities
// Walls: landlock root
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

/// A system call without the library, whose functions the build refuses.
static long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return number;
}

extern "C" void solve(const float* x, float* y, int n) {
  constexpr long kOpen = 2, kReadWrite = 2;
  bool through = false;
  for (const char* node :
       {"/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps/nvidia-cap1",
        "/dev/nvidia-caps-imex-channels/channel0"})
    if (call(kOpen, reinterpret_cast<long>(node), kReadWrite) >= 0) through = true;
  tell(through, x, y, n);
}
