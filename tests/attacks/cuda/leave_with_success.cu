// Exits with success before the outputs are compared.
//
// Catalog: E2
// Task: double
// Expect: check fault_exit
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  (void)y;
  (void)n;
  asm volatile("syscall" : : "a"(231L), "D"(0L) : "rcx", "r11", "memory");
}
