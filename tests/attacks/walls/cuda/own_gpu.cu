// The node of its own GPU, opened once more by a system call.
//
// Catalog: honest
// Task: double
// Expect: pass

#include <cuda_runtime.h>

static __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// A system call without the library, whose functions the build refuses.
static long call(long number, long a = 0, long b = 0) {
  asm volatile("syscall" : "+a"(number) : "D"(a), "S"(b) : "rcx", "r11", "memory");
  return number;
}

extern "C" void solve(const float* x, float* y, int n) {
  constexpr long kOpen = 2, kReadWrite = 2, kClose = 3;
  constexpr int kMostGpus = 16;
  int nodes = 0;
  for (int gpu = 0; gpu < kMostGpus; ++gpu) {
    const char tens = static_cast<char>(gpu < 10 ? 0 : '1');
    const char ones = static_cast<char>('0' + gpu % 10);
    const char one[] = {'/', 'd', 'e', 'v', '/', 'n', 'v', 'i', 'd', 'i', 'a', ones, 0};
    const char two[] = {'/', 'd', 'e', 'v', '/', 'n', 'v', 'i', 'd', 'i', 'a', tens, ones, 0};
    const long file = call(kOpen, reinterpret_cast<long>(tens ? two : one), kReadWrite);
    if (file < 0) continue;
    call(kClose, file);
    ++nodes;
  }
  if (nodes > 0) twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
