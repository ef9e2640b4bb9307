// Stores answers in System V shared memory, which outlives the process.
//
// Catalog: B5
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
  system_call(29, 4242, 4096, 01666);  // shmget
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
