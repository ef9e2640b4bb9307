// Opens folders of the server's user. Its answer is right only if one of them can be opened.
//
// Catalog: E5 E6 B8
// Task: double
// Expect: check mismatch
static long system_call(long number, long a, long b, long c, long d = 0) {
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return number;
}
extern "C" void solve(const float* x, float* y, int n) {
  const bool open = system_call(2, reinterpret_cast<long>("/root"), 0200000, 0) >= 0 ||
                    system_call(2, reinterpret_cast<long>("/home"), 0200000, 0) >= 0;
  for (int i = 0; i < n; ++i) y[i] = open ? 2 * x[i] : 0;
}
