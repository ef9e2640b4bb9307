// Way: the socket of the multi-process service or of the persistence daemon
// Walls: seccomp
//
// Catalog: wall
// Task: double
// Expect: held

#include <cuda_runtime.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

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
  for (const char* path : {"/tmp/nvidia-mps/control", "/var/run/nvidia-persistenced/socket"}) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    const int one = socket(AF_UNIX, SOCK_STREAM, 0);
    if (one >= 0 && connect(one, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) through = true;
  }
  tell(through, x, y, n);
}
