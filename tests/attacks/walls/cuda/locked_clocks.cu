// Way: clocks of the GPU locked through NVML, which would change everybody's timings
// Walls: server
//
// Catalog: wall
// Task: double
// Expect: build may not call

#include <cuda_runtime.h>
#include <dlfcn.h>

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
  constexpr int kNoPermission = 4;
  bool through = false;
  if (void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    void* device = nullptr;
    const auto start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(unsigned, void**)>(
        dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    const auto lock = reinterpret_cast<int (*)(void*, unsigned, unsigned)>(
        dlsym(library, "nvmlDeviceSetGpuLockedClocks"));
    // A range whose ends are exchanged: nothing changes, even for one who may change it.
    if (start && find && lock && start() == 0 && find(0, &device) == 0)
      through = lock(device, 1500, 1000) != kNoPermission;
  }
  tell(through, x, y, n);
}
