// Writes a forged verdict to every possible file descriptor.
//
// Catalog: E1 G6
// Task: double
// Expect: check fault_forged_reply
static long system_call(long number, long a, long b, long c) {
  asm volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return number;
}

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  static const char frame[] = "\x02\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0{}";
  system_call(1, 3, reinterpret_cast<long>(frame), sizeof frame - 1);
}
