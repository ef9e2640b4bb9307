// Way: a thread of the driver that is under no filter or has capabilities
// Walls: seccomp user
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

/// Whether `text` contains the line that begins so and whose value is not `good`.
static bool differs(const char* text, const char* name, const char* good) {
  for (; *text; ++text) {
    int i = 0;
    while (name[i] && text[i] == name[i]) ++i;
    if (name[i]) continue;
    int j = 0;
    while (good[j] && text[i + j] == good[j]) ++j;
    return good[j] != 0;
  }
  return false;
}

extern "C" void solve(const float* x, float* y, int n) {
  constexpr long kRead = 0, kOpen = 2, kClose = 3, kGetdents = 217;
  bool through = false;
  static char entries[65536], text[4096], path[64] = "/proc/self/task/";
  const long folder = call(kOpen, reinterpret_cast<long>("/proc/self/task"));
  const long bytes = call(kGetdents, folder, reinterpret_cast<long>(entries), sizeof entries);
  for (long at = 0; at < bytes; at += *reinterpret_cast<unsigned short*>(entries + at + 16)) {
    const char* name = entries + at + 19;
    if (*name == '.') continue;
    int end = 16;
    while (*name) path[end++] = *name++;
    for (const char* rest = "/status"; *rest; ++rest) path[end++] = *rest;
    path[end] = 0;
    const long file = call(kOpen, reinterpret_cast<long>(path));
    const long read = call(kRead, file, reinterpret_cast<long>(text), sizeof text - 1);
    call(kClose, file);
    text[read > 0 ? read : 0] = 0;
    through |= differs(text, "NoNewPrivs:\t", "1") || differs(text, "Seccomp:\t", "2") ||
               differs(text, "CapEff:\t", "0000000000000000");
  }
  call(kClose, folder);
  tell(through, x, y, n);
}
