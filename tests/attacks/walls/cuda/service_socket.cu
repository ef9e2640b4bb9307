// Way: the socket of the multi-process service or of the persistence daemon
// Walls: seccomp
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

extern "C" void solve(const float* x, float* y, int n) {
  float outcome = 0;
  for (const char* path : {"/tmp/nvidia-mps/control", "/var/run/nvidia-persistenced/socket"}) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    const int one = socket(AF_UNIX, SOCK_STREAM, 0);
    if (one >= 0 && connect(one, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) outcome = 1;
  }
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
