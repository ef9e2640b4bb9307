// Writes a forged verdict to every possible file descriptor.
//
// Catalog: E1 G6
// Task: double
// Expect: check fault_forged_reply
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
  static const char frame[] = "\x02\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0{}";
  for (int descriptor = 3; descriptor < 16; ++descriptor)
    system_call(1, descriptor, reinterpret_cast<long>(frame), sizeof frame - 1);
}
