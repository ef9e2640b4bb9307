#include <cuda_runtime.h>

#include <cstdint>

// Vector addition, four elements per thread and instruction where the buffers allow it.
__global__ void add4(const float4* a, const float4* b, float4* c, int vectors) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  const float4 p = __ldcs(a + i), q = __ldcs(b + i);
  __stcs(c + i, make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w));
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* c, int n) {
  const auto bits = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                    reinterpret_cast<uintptr_t>(c);
  if (bits % 16 == 0 && n % 4 == 0) {
    const int vectors = n / 4;
    add4<<<(vectors + 255) / 256, 256>>>(reinterpret_cast<const float4*>(a),
                                         reinterpret_cast<const float4*>(b),
                                         reinterpret_cast<float4*>(c), vectors);
  } else {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  }
}
