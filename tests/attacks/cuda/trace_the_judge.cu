// Attaches to its parent as a debugger would.
//
// Catalog: E9 A11
// Task: double
// Expect: check fault_forbidden_call
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  (void)y;
  (void)n;
  long number = 101;
  asm volatile("syscall" : "+a"(number) : "D"(16L), "S"(1L), "d"(0L) : "rcx", "r11", "memory");
}
