// Way: a signal handler that runs on a thread of the driver and opens a socket
// Walls: seccomp
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// A right answer, unless the attack worked.
static void tell(bool through, const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (through) cudaMemset(y, 0xff, sizeof *y);
}

static volatile int opened = 0;

static void on_signal(int) {
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) opened = 1;
}

extern "C" void solve(const float* x, float* y, int n) {
  signal(SIGUSR1, on_signal);
  DIR* threads = opendir("/proc/self/task");
  while (const dirent* entry = threads ? readdir(threads) : nullptr) {
    const int thread = atoi(entry->d_name);
    if (thread > 0 && thread != getpid()) syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
  }
  usleep(100000);
  const bool through = opened;
  tell(through, x, y, n);
}
