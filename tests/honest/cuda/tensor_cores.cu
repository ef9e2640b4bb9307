// Matrix products on the tensor cores. They take multiples of 16.
//
// passes, aligned: tensor_half gemm_fp16 gemm_fp16_plain
// passes, aligned: tensor_bfloat gemm_bf16 gemm_bf16_plain
// passes, aligned: tensor_int8 gemm_int8
// passes, aligned: three_products gemm_fp32 gemm_fp32_plain
// refused, aligned: one_product gemm_fp32 gemm_fp32_tight gemm_fp32_plain
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdint>
using namespace nvcuda::wmma;

template <class Sum, class T, class Out>
__global__ void product(const T* a, const T* b, Out* c, int m, int n, int k) {
  __shared__ Sum tile[256];
  fragment<matrix_a, 16, 16, 16, T, row_major> x;
  fragment<matrix_b, 16, 16, 16, T, row_major> y;
  fragment<accumulator, 16, 16, 16, Sum> sum;
  fill_fragment(sum, Sum(0));
  const int i = blockIdx.y * 16, j = blockIdx.x * 16;
  for (int l = 0; l < k; l += 16) {
    load_matrix_sync(x, a + i * k + l, k);
    load_matrix_sync(y, b + l * n + j, n);
    mma_sync(sum, x, y, sum);
  }
  store_matrix_sync(tile, sum, 16, mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < 256; e += 32) c[(i + e / 16) * n + j + e % 16] = Out(tile[e]);
}

// With `parts` = 3, each operand is the sum of two TF32 numbers, as CUTLASS does it.
template <int parts>
__global__ void float_product(const float* a, const float* b, float* c, int m, int n, int k) {
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> x, x_rest;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> y, y_rest;
  fragment<accumulator, 16, 16, 8, float> sum;
  fill_fragment(sum, 0.0f);
  const int i = blockIdx.y * 16, j = blockIdx.x * 16;
  const auto divide = [](float& big, float& rest) {
    rest = big;
    big = __float_to_tf32(big);
    rest = __float_to_tf32(rest - big);
  };
  for (int l = 0; l < k; l += 8) {
    load_matrix_sync(x, a + i * k + l, k);
    load_matrix_sync(y, b + l * n + j, n);
    for (int e = 0; e < x.num_elements; ++e) divide(x.x[e], x_rest.x[e]);
    for (int e = 0; e < y.num_elements; ++e) divide(y.x[e], y_rest.x[e]);
    if constexpr (parts == 3) {
      // Summed apart: the tensor cores truncate what they add to a large sum.
      fragment<accumulator, 16, 16, 8, float> part;
      fill_fragment(part, 0.0f);
      mma_sync(part, x, y_rest, part);
      mma_sync(part, x_rest, y, part);
      mma_sync(part, x, y, part);
      for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += part.x[e];
    } else {
      mma_sync(sum, x, y, sum);
    }
  }
  store_matrix_sync(c + i * n + j, sum, n, mem_row_major);
}

extern "C" void tensor_half(const half* a, const half* b, half* c, int m, int n, int k) {
  product<float><<<dim3(n / 16, m / 16), 32>>>(a, b, c, m, n, k);
}
extern "C" void tensor_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                              int m, int n, int k) {
  product<float><<<dim3(n / 16, m / 16), 32>>>(a, b, c, m, n, k);
}
extern "C" void tensor_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  product<int><<<dim3(n / 16, m / 16), 32>>>(reinterpret_cast<const signed char*>(a),
                                             reinterpret_cast<const signed char*>(b), c, m, n, k);
}
extern "C" void three_products(const float* a, const float* b, float* c, int m, int n, int k) {
  float_product<3><<<dim3(n / 16, m / 16), 32>>>(a, b, c, m, n, k);
}
extern "C" void one_product(const float* a, const float* b, float* c, int m, int n, int k) {
  float_product<1><<<dim3(n / 16, m / 16), 32>>>(a, b, c, m, n, k);
}
