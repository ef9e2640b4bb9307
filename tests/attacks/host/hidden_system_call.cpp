// Hides a system call from source scanners: the number is computed at run time.
//
// Catalog: E10
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
  volatile long a = 19;
  system_call(3 * a, 0, 0, 0);
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
