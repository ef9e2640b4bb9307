// Kernels whose counters are compared with Nsight Compute's; copy and softmax are in kernels.cu.
// Entries have the same signature: `n` floats in, `n` floats out.

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

namespace {

constexpr int kEdge = 2048;  // rows and columns of the products
constexpr int kTile = 32;
constexpr int kBins = 256;

__global__ void saxpy_kernel(float a, const float4* x, float4* y, long vectors) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= vectors) return;
  const float4 u = x[i];
  float4 v = y[i];
  v = {a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w};
  y[i] = v;
}

// One thread per element, tiles of 32 by 32 in shared memory.
__global__ void __launch_bounds__(kTile* kTile)
    sgemm_kernel(const float* a, const float* b, float* c) {
  __shared__ float ta[kTile][kTile], tb[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kEdge; k += kTile) {
    ta[threadIdx.y][threadIdx.x] = a[row * kEdge + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * kEdge + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum = fmaf(ta[threadIdx.y][i], tb[i][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * kEdge + column] = sum;
}

// One warp per tile of 32 by 32, fragments loaded directly from memory.
__global__ void __launch_bounds__(128)
    bf16_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  namespace w = nvcuda::wmma;
  const int warp = blockIdx.x * 4 + threadIdx.x / 32;
  const int row = warp / (kEdge / 32) * 32, column = warp % (kEdge / 32) * 32;
  w::fragment<w::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum)
    for (auto& part : line) w::fill_fragment(part, 0);
  for (int k = 0; k < kEdge; k += 16) {
    w::fragment<w::matrix_a, 16, 16, 16, __nv_bfloat16, w::row_major> x[2];
    w::fragment<w::matrix_b, 16, 16, 16, __nv_bfloat16, w::row_major> y[2];
    for (int i = 0; i < 2; ++i) {
      w::load_matrix_sync(x[i], a + (row + 16 * i) * kEdge + k, kEdge);
      w::load_matrix_sync(y[i], b + k * kEdge + column + 16 * i, kEdge);
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) w::mma_sync(sum[i][j], x[i], y[j], sum[i][j]);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      w::store_matrix_sync(c + (row + 16 * i) * kEdge + column + 16 * j, sum[i][j], kEdge,
                           w::mem_row_major);
}

__global__ void histogram_kernel(const float* in, unsigned* bins, long n) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n;
       i += gridDim.x * static_cast<long>(blockDim.x))
    atomicAdd(bins + (__float_as_uint(in[i]) >> 8) % kBins, 1U);
}

}  // namespace

extern "C" {

void saxpy(const float* in, float* out, long n, cudaStream_t stream) {
  saxpy_kernel<<<static_cast<unsigned>((n / 4 + 255) / 256), 256, 0, stream>>>(
      2, reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), n / 4);
}

void sgemm(const float* in, float* out, long, cudaStream_t stream) {
  sgemm_kernel<<<dim3(kEdge / kTile, kEdge / kTile), dim3(kTile, kTile), 0, stream>>>(
      in, in + kEdge * kEdge, out);
}

void gemm_bf16(const float* in, float* out, long, cudaStream_t stream) {
  const auto* a = reinterpret_cast<const __nv_bfloat16*>(in);
  bf16_kernel<<<kEdge / 32 * (kEdge / 32) / 4, 128, 0, stream>>>(a, a + kEdge * kEdge, out);
}

void histogram(const float* in, float* out, long n, cudaStream_t stream) {
  histogram_kernel<<<1056, 256, 0, stream>>>(in, reinterpret_cast<unsigned*>(out), n);
}

}  // extern "C"
