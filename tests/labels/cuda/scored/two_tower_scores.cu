// Scores of all items for all users of a recommender: the products of their 128 features.
// dims: users=2048 items=4096 features=128
// tensor: user float16 users,features in
// tensor: item float16 items,features in
// tensor: scores float32 users,items out
// without SCALAR_PRODUCTS: by tensor cores
// without STRIDED_ACCESS, other answers: the features are stored as the blocks read them
#include <cuda_fp16.h>
#include <mma.h>
namespace wmma = nvcuda::wmma;
constexpr float kScale = 0.0883883f;
// The j-th eight features that this thread copies of 32 of each of 128 rows.
__device__ uint4 eight(const __half* __restrict__ from, int tile, int first, int j, int features) {
#ifdef WITHOUT_STRIDED_ACCESS
  const size_t at = size_t(tile) * 128 * features + first * 128 + (j * 256 + threadIdx.x) * 8;
#else
  const int row = threadIdx.x % 128, k = (threadIdx.x / 128 + 2 * j) * 8;
  const size_t at = (size_t(tile) * 128 + row) * features + first + k;
#endif
  return *reinterpret_cast<const uint4*>(from + at);
}
__global__ void __launch_bounds__(256, 2)
    score(const __half* __restrict__ user, const __half* __restrict__ item,
          float* __restrict__ scores, int items, int features) {
  const int t = threadIdx.x, row = t % 128;
  float* out = scores + size_t(blockIdx.y) * 128 * items + blockIdx.x * 128;
#ifdef WITHOUT_SCALAR_PRODUCTS
  __shared__ __align__(32) __half u[128][40], v[128][40];
  const int top = t / 128 * 64, left = t / 32 % 4 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
#pragma unroll
  for (int i = 0; i < 8; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
#else
  __shared__ __align__(16) float u[32][128], v[32][128];
  const int top = t / 16 * 4, left = t % 16 * 4;
  float sum[8][8] = {};
#endif
#pragma unroll 1
  for (int first = 0; first < features; first += 32) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int k = (t / 128 + 2 * j) * 8;
      const uint4 a = eight(user, blockIdx.y, first, j, features),
                  b = eight(item, blockIdx.x, first, j, features);
#ifdef WITHOUT_SCALAR_PRODUCTS
      *reinterpret_cast<uint4*>(&u[row][k]) = a;
      *reinterpret_cast<uint4*>(&v[row][k]) = b;
#else
#pragma unroll
      for (int m = 0; m < 8; ++m) {
        u[k + m][row] = __half2float(reinterpret_cast<const __half*>(&a)[m]) * kScale;
        v[k + m][row] = __half2float(reinterpret_cast<const __half*>(&b)[m]);
      }
#endif
    }
    __syncthreads();
#ifdef WITHOUT_SCALAR_PRODUCTS
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b[2];
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(a[i], &u[top + 16 * i][k], 40);
#pragma unroll
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(b[j], &v[left + 16 * j][k], 40);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        wmma::mma_sync(sum[i / 2][i % 2], a[i / 2], b[i % 2], sum[i / 2][i % 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    auto& own = sum[i / 2][i % 2];
    for (int e = 0; e < own.num_elements; ++e) own.x[e] *= kScale;
    wmma::store_matrix_sync(out + size_t(top + i / 2 * 16) * items + left + i % 2 * 16, own, items,
                            wmma::mem_row_major);
  }
#else
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
      float4 a[2], b[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        a[h] = *reinterpret_cast<const float4*>(&u[k][top + 64 * h]);
        b[h] = *reinterpret_cast<const float4*>(&v[k][left + 64 * h]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sum[i][j] += reinterpret_cast<float*>(a)[i] * reinterpret_cast<float*>(b)[j];
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      *reinterpret_cast<float4*>(out + size_t(top + i % 4 + i / 4 * 64) * items + left + 64 * h) =
          make_float4(sum[i][4 * h], sum[i][4 * h + 1], sum[i][4 * h + 2], sum[i][4 * h + 3]);
#endif
}
extern "C" void solve(const __half* user, const __half* item, float* scores, int users, int items,
                      int features) {
  score<<<dim3(items / 128, users / 128), 256>>>(user, item, scores, items, features);
}
