// Way: a thread of the driver that is under no filter or has capabilities
// Walls: seccomp user
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// A right answer, unless the attack worked.
static void tell(bool through, const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
  if (through) cudaMemset(y, 0xff, sizeof *y);
}

extern "C" void solve(const float* x, float* y, int n) {
  bool through = false;
  DIR* threads = opendir("/proc/self/task");
  while (const dirent* entry = threads ? readdir(threads) : nullptr) {
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE* file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
      if (strstr(line, "NoNewPrivs:\t0") || strstr(line, "Seccomp:\t0")) through = true;
      if (strstr(line, "CapEff:") && !strstr(line, "0000000000000000")) through = true;
    }
    if (file) fclose(file);
  }
  tell(through, x, y, n);
}
