// Forks repeatedly.
//
// Catalog: F5 E2
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
  for (int i = 0; i < 64; ++i) system_call(57, 0, 0, 0);
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
