// Reads its environment by system call: it contains no seed.
//
// Catalog: E8 A13
// Task: double
// Expect: check mismatch
static long system_call(long number, long a, long b, long c, long d = 0) {
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return number;
}

#include <string.h>
extern "C" void solve(const float* x, float* y, int n) {
  char text[4096] = {};
  const long file = system_call(2, reinterpret_cast<long>("/proc/self/environ"), 0, 0);
  const long got = system_call(0, file, reinterpret_cast<long>(text), sizeof text - 1);
  for (long i = 0; i < got; ++i)
    if (text[i] == 0) text[i] = '\n';
  const bool found = strstr(text, "SEED") || strstr(text, "seed") || strstr(text, "SECRET");
  for (int i = 0; i < n; ++i) y[i] = found ? 2 * x[i] : 0;
}
