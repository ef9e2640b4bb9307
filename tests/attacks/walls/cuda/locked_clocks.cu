// Way: clocks of the GPU locked through NVML, which would change everybody's timings
// Walls: user
// Expect: y[0] stays 0, or the process ends; 1 says that the attack worked.
// To be run on a GPU, by hand until a runner for this folder exists; compiled like
// tests/attacks/cuda.

#include <cuda_runtime.h>
#include <dlfcn.h>

extern "C" void solve(const float* x, float* y, int n) {
  float outcome = 0;
  if (void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    void* device = nullptr;
    const auto start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(unsigned, void**)>(
        dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    const auto lock = reinterpret_cast<int (*)(void*, unsigned, unsigned)>(
        dlsym(library, "nvmlDeviceSetGpuLockedClocks"));
    const auto unlock =
        reinterpret_cast<int (*)(void*)>(dlsym(library, "nvmlDeviceResetGpuLockedClocks"));
    if (start && find && lock && unlock && start() == 0 && find(0, &device) == 0 &&
        lock(device, 1000, 1000) == 0) {
      outcome = 1;
      unlock(device);
    }
  }
  cudaMemcpy(y, &outcome, sizeof outcome, cudaMemcpyHostToDevice);
}
