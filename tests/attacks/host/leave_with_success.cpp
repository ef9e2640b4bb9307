// Exits with success before the outputs are compared.
//
// Catalog: E2
// Task: double
// Expect: check fault_exit
static long system_call(long number, long a, long b, long c, long d = 0) {
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return number;
}
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  (void)y;
  (void)n;
  system_call(231, 0, 0, 0);
}
