// Replaces the worker's control channel by a pipe.
//
// Catalog: E1 E2
// Task: double
// Expect: check fault_exit|fault_forged_reply
static long system_call(long number, long a, long b, long c, long d = 0) {
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return number;
}
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
  int ends[2];
  system_call(22, reinterpret_cast<long>(ends), 0, 0);  // pipe
  system_call(33, ends[1], 3, 0);                       // dup2
}
