// Way: a thread of the driver that is under no filter or has capabilities
// Walls: seccomp user
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

extern "C" void solve(const float* x, float* y, int n) {
  float outcome = 0;
  DIR* threads = opendir("/proc/self/task");
  while (const dirent* entry = threads ? readdir(threads) : nullptr) {
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE* file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
      if (strstr(line, "NoNewPrivs:\t0") || strstr(line, "Seccomp:\t0")) outcome = 1;
      if (strstr(line, "CapEff:") && !strstr(line, "0000000000000000")) outcome = 1;
    }
    if (file) fclose(file);
  }
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
