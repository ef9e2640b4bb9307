// Keeps a table of what it was given, as libraries do that register buffers: asks the driver in
// every call whether other memory lies there now, and then makes its entry anew. Keeps no handle.
//
// Catalog: honest
// Task: double
// Expect: pass
#include <cuda.h>

#include <map>

struct Entry {
  CUmemGenericAllocationHandle memory;
  const float* x;
  float* y;
};

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

/// Of the memory that lies there; 0: it was not mapped by handle.
static CUmemGenericAllocationHandle handle_at(const float* at) {
  CUmemGenericAllocationHandle handle = 0;
  if (cuMemRetainAllocationHandle(&handle, const_cast<float*>(at)) != CUDA_SUCCESS) return 0;
  cuMemRelease(handle);
  return handle;
}

extern "C" void solve(const float* x, float* y, int n) {
  static std::map<const float*, Entry> table;
  const auto memory = handle_at(x);
  auto& entry = table[x];
  if (entry.memory != memory || entry.y != y) entry = {memory, x, y};
  twice<<<(n + 255) / 256, 256>>>(entry.x, entry.y, n);
}
