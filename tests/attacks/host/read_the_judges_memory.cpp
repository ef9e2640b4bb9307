// Reads the memory of its parent process, which might hold expected values.
//
// Catalog: B8 E9
// Task: double
// Expect: check fault_forbidden_call
static long system_call(long number, long a, long b, long c, long d = 0) {
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return number;
}

#include <sys/uio.h>
extern "C" void solve(const float* x, float* y, int n) {
  char bytes[64];
  iovec here{bytes, sizeof bytes};
  iovec there{reinterpret_cast<void*>(0x400000), sizeof bytes};
  system_call(310, system_call(110, 0, 0, 0), reinterpret_cast<long>(&here), 1,
              reinterpret_cast<long>(&there));
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
