// Way: a socket like that of the multi-process service or of the persistence daemon
// Walls: seccomp
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
  constexpr long kSocket = 41, kLocal = 1, kStream = 1;
  tell(call(kSocket, kLocal, kStream) >= 0, x, y, n);
}
