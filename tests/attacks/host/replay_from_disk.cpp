// Leaves a mark in its folder and answers only if an earlier process left one: the folder is new
// for every process.
//
// Catalog: B5
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

static int before = -1;
extern "C" void solve(const float* x, float* y, int n) {
  if (before < 0) {
    before = system_call(2, reinterpret_cast<long>("mark"), 0, 0) >= 0;
    system_call(2, reinterpret_cast<long>("mark"), 0101, 0600);
  }
  for (int i = 0; i < n; ++i) y[i] = before ? 2 * x[i] : 0;
}
