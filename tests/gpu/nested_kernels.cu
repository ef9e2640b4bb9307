// Kernels that launch kernels; a separate library, because they need relocatable device code.

#include <cuda_runtime.h>

namespace {

__global__ void child_kernel(const float* in, float* out, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void parent_kernel(const float* in, float* out, long n) {
  child_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(in, out, n);
}

}  // namespace

extern "C" {

void nested(const float* in, float* out, long n, cudaStream_t stream) {
  parent_kernel<<<1, 1, 0, stream>>>(in, out, n);
}

void child(const float* in, float* out, long n, cudaStream_t stream) {
  child_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}

}  // extern "C"
