// Matrix products in five summation orders for each type, and shortcuts of them.
//
// passes: naive gemm_fp32 gemm_fp32_tight gemm_fp32_plain
// passes: reversed gemm_fp32
// passes: tiled gemm_fp32 gemm_fp32_tight
// passes: split gemm_fp32
// passes: warp gemm_fp32 gemm_fp32_plain
// passes: registers gemm_fp32
// passes: naive_half gemm_fp16 gemm_fp16_plain
// passes: reversed_half gemm_fp16
// passes: tiled_half gemm_fp16
// passes: split_half gemm_fp16 gemm_fp16_plain
// passes: warp_half gemm_fp16
// passes: naive_bfloat gemm_bf16 gemm_bf16_plain
// passes: reversed_bfloat gemm_bf16
// passes: tiled_bfloat gemm_bf16
// passes: split_bfloat gemm_bf16 gemm_bf16_plain
// passes: warp_bfloat gemm_bf16
// passes: naive_int8 gemm_int8
// passes: reversed_int8 gemm_int8
// passes: tiled_int8 gemm_int8
// passes: split_int8 gemm_int8
// passes: warp_int8 gemm_int8
// refused: tf32_operands gemm_fp32 gemm_fp32_plain
// refused: bfloat_operands gemm_fp32
// refused: last_terms_left_out gemm_fp32 gemm_fp32_plain
// refused: last_column_left_out gemm_fp32
// refused: half_sums gemm_fp16_plain
// refused: bfloat_sums gemm_bf16_plain
// refused: last_terms_left_out_half gemm_fp16
// refused: every_other_term gemm_bf16
// refused: unsigned_bytes gemm_int8
// refused: short_sums gemm_int8
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

using bfloat = __nv_bfloat16;

// The order of a sum over `k` products: a body that is called with every l, and what it adds to.
template <class Sum, class Product>
__device__ Sum ascending(int k, Product product) {
  Sum sum = 0;
  for (int l = 0; l < k; ++l) sum += product(l);
  return sum;
}
template <class Sum, class Product>
__device__ Sum descending(int k, Product product) {
  Sum sum = 0;
  for (int l = k - 1; l >= 0; --l) sum += product(l);
  return sum;
}
template <class Sum, class Product>
__device__ Sum in_parts(int k, Product product) {
  Sum sums[4] = {};
  for (int l = 0; l < k; ++l) sums[l % 4] += product(l);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

enum Order { up, down, parts };

template <class Sum, Order order, class T, class Out>
__global__ void by_element(const T* a, const T* b, Out* c, int m, int n, int k) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) return;
  const auto product = [&](int l) { return Sum(a[i * k + l]) * Sum(b[l * n + j]); };
  Sum sum;
  if constexpr (order == up) sum = ascending<Sum>(k, product);
  if constexpr (order == down) sum = descending<Sum>(k, product);
  if constexpr (order == parts) sum = in_parts<Sum>(k, product);
  c[i * n + j] = Out(sum);
}

template <class Sum, class T, class Out>
__global__ void by_tile(const T* a, const T* b, Out* c, int m, int n, int k) {
  __shared__ Sum x[16][16], y[16][17];
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  Sum sum = 0;
  for (int t = 0; t < k; t += 16) {
    const int row = t + threadIdx.y, column = t + threadIdx.x;
    x[threadIdx.y][threadIdx.x] = i < m && column < k ? Sum(a[i * k + column]) : Sum(0);
    y[threadIdx.y][threadIdx.x] = row < k && j < n ? Sum(b[row * n + j]) : Sum(0);
    __syncthreads();
    Sum part = 0;
    for (int l = 0; l < 16; ++l) part += x[threadIdx.y][l] * y[l][threadIdx.x];
    sum += part;
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = Out(sum);
}

template <class Sum, class T, class Out>
__global__ void by_warp(const T* a, const T* b, Out* c, int m, int n, int k) {
  const int at = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (at >= m * n) return;
  const int i = at / n, j = at % n;
  Sum sum = 0;
  for (int l = lane; l < k; l += 32) sum += Sum(a[i * k + l]) * Sum(b[l * n + j]);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (lane == 0) c[at] = Out(sum);
}

// Four by four elements a thread, as in many tutorials.
__global__ void by_registers(const float* a, const float* b, float* c, int m, int n, int k) {
  const int j = (blockIdx.x * 16 + threadIdx.x) * 4, i = (blockIdx.y * 16 + threadIdx.y) * 4;
  float sums[4][4] = {};
  for (int l = 0; l < k; ++l)
    for (int p = 0; p < 4; ++p)
      for (int q = 0; q < 4; ++q)
        if (i + p < m && j + q < n)
          sums[p][q] = fmaf(a[(i + p) * k + l], b[l * n + j + q], sums[p][q]);
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q)
      if (i + p < m && j + q < n) c[(i + p) * n + j + q] = sums[p][q];
}

__host__ dim3 tiles(int m, int n, int side = 16) {
  return dim3((n + side - 1) / side, (m + side - 1) / side);
}
constexpr unsigned kSide = 16;
#define SQUARE dim3(kSide, kSide)

extern "C" void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  by_element<float, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void reversed(const float* a, const float* b, float* c, int m, int n, int k) {
  by_element<float, down><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void split(const float* a, const float* b, float* c, int m, int n, int k) {
  by_element<float, parts><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  by_tile<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void warp(const float* a, const float* b, float* c, int m, int n, int k) {
  by_warp<float><<<(m * n + 7) / 8, 256>>>(a, b, c, m, n, k);
}
extern "C" void registers(const float* a, const float* b, float* c, int m, int n, int k) {
  by_registers<<<tiles(m, n, 64), SQUARE>>>(a, b, c, m, n, k);
}

extern "C" void naive_half(const half* a, const half* b, half* c, int m, int n, int k) {
  by_element<float, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void reversed_half(const half* a, const half* b, half* c, int m, int n, int k) {
  by_element<float, down><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void split_half(const half* a, const half* b, half* c, int m, int n, int k) {
  by_element<float, parts><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void tiled_half(const half* a, const half* b, half* c, int m, int n, int k) {
  by_tile<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void warp_half(const half* a, const half* b, half* c, int m, int n, int k) {
  by_warp<float><<<(m * n + 7) / 8, 256>>>(a, b, c, m, n, k);
}

extern "C" void naive_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                             int m, int n, int k) {
  by_element<float, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void reversed_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                int m, int n, int k) {
  by_element<float, down><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void split_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                             int m, int n, int k) {
  by_element<float, parts><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void tiled_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                             int m, int n, int k) {
  by_tile<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void warp_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                            int n, int k) {
  by_warp<float><<<(m * n + 7) / 8, 256>>>(a, b, c, m, n, k);
}

extern "C" void naive_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_element<int, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void reversed_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_element<int, down><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void split_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_element<int, parts><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void tiled_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_tile<int><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void warp_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_warp<int><<<(m * n + 7) / 8, 256>>>(a, b, c, m, n, k);
}

// What follows is wrong on purpose.

struct Tf32 {
  __device__ float operator()(float value) const {
    return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
  }
};
struct Rounded {
  __device__ float operator()(float value) const { return __bfloat162float(bfloat(value)); }
};

template <class Round>
__global__ void rounded_operands(const float* a, const float* b, float* c, int m, int n, int k) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += Round()(a[i * k + l]) * Round()(b[l * n + j]);
  c[i * n + j] = sum;
}
extern "C" void tf32_operands(const float* a, const float* b, float* c, int m, int n, int k) {
  rounded_operands<Tf32><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void bfloat_operands(const float* a, const float* b, float* c, int m, int n, int k) {
  rounded_operands<Rounded><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}

// Every `step`-th of the first `terms` products, columns below `columns`.
template <class Sum, class T, class Out>
__global__ void some_terms(const T* a, const T* b, Out* c, int m, int n, int k, int terms, int step,
                           int columns) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= columns) return;
  Sum sum = 0;
  for (int l = 0; l < terms; l += step) sum += Sum(a[i * k + l]) * Sum(b[l * n + j]);
  c[i * n + j] = Out(Sum(step) * sum);
}
extern "C" void last_terms_left_out(const float* a, const float* b, float* c, int m, int n, int k) {
  some_terms<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k, k - k / 64, 1, n);
}
extern "C" void last_column_left_out(const float* a, const float* b, float* c, int m, int n,
                                     int k) {
  some_terms<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k, k, 1, n - 1);
}
extern "C" void last_terms_left_out_half(const half* a, const half* b, half* c, int m, int n,
                                         int k) {
  some_terms<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k, k - k / 64, 1, n);
}
extern "C" void every_other_term(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                 int m, int n, int k) {
  some_terms<float><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k, k, 2, n);
}
extern "C" void half_sums(const half* a, const half* b, half* c, int m, int n, int k) {
  by_element<half, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void bfloat_sums(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                            int n, int k) {
  by_element<bfloat, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
extern "C" void unsigned_bytes(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_element<int, up><<<tiles(m, n), SQUARE>>>(reinterpret_cast<const uint8_t*>(a),
                                               reinterpret_cast<const uint8_t*>(b), c, m, n, k);
}
extern "C" void short_sums(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  by_element<int16_t, up><<<tiles(m, n), SQUARE>>>(a, b, c, m, n, k);
}
