// Way: a signal handler that runs on a thread of the driver and opens a socket
// Walls: seccomp
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  const float outcome = opened;
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
