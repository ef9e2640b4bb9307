// Installs a handler for the sandbox's signal and continues.
//
// Catalog: E2
// Task: double
// Expect: check fault_forbidden_call|fault_crash
static long system_call(long number, long a, long b, long c, long d = 0) {
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return number;
}

#include <signal.h>
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
static void ignore(int) {}
extern "C" void solve(const float* x, float* y, int n) {
  KernelAction action{ignore, 0x04000000, nullptr, 0};
  system_call(13, SIGSYS, reinterpret_cast<long>(&action), 0, 8);  // rt_sigaction
  system_call(57, 0, 0, 0);                                        // fork
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
