// Attaches to its parent as a debugger would.
//
// Catalog: A11 E9
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
extern "C" void solve(const float* x, float* y, int n) {
  system_call(101, 16, system_call(110, 0, 0, 0), 0);  // ptrace(PTRACE_ATTACH, getppid())
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
