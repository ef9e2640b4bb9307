// Way: an IPC handle of its memory, left where another process can find it
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
  constexpr long kOpen = 2, kUnlink = 87, kCreateToWrite = 0101;
  bool through = false;
  void* memory = nullptr;
  cudaIpcMemHandle_t handle;
  cudaMalloc(&memory, 1 << 20);
  if (cudaIpcGetMemHandle(&handle, memory) == cudaSuccess)
    for (const char* place : {"/tmp/ratchet-handle", "/dev/shm/ratchet-handle"})
      if (call(kOpen, reinterpret_cast<long>(place), kCreateToWrite, 0600) >= 0) {
        through = true;
        call(kUnlink, reinterpret_cast<long>(place));
      }
  cudaFree(memory);
  tell(through, x, y, n);
}
