// Kinship of individuals: the products of the genotypes of all pairs, on tensor cores. A warp makes
// 16 x 16 pairs and fetches both operands of each step from global memory.
// dims: individuals=2048 markers=2048
// tensor: genotype float16 individuals,markers in
// tensor: kinship float32 individuals,individuals out
// without OPERANDS: a warp makes 64 x 64 pairs and uses each operand four times
// without BYTES, other answers: all warps have the genotypes of the first 64 individuals
// without DEPENDENCE: the even and the odd steps have a sum each
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void __launch_bounds__(128)
    kin(const half* __restrict__ genotype, float* __restrict__ kinship, int individuals,
        int markers) {
#ifdef WITHOUT_OPERANDS
  constexpr int kTiles = 4;
#else
  constexpr int kTiles = 1;
#endif
  const int warp = threadIdx.x / 32;
  const int row = (blockIdx.y * 2 + warp / 2) * 16 * kTiles;
  const int column = (blockIdx.x * 2 + warp % 2) * 16 * kTiles;
  if (row >= individuals || column >= individuals) return;
#ifdef WITHOUT_BYTES
  const half* a = genotype + size_t(row & 63) * markers;
  const half* b = genotype + size_t(column & 63) * markers;
#else
  const half* a = genotype + size_t(row) * markers;
  const half* b = genotype + size_t(column) * markers;
#endif
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kTiles][kTiles];
#pragma unroll
  for (int i = 0; i < kTiles; ++i)
#pragma unroll
    for (int j = 0; j < kTiles; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
#ifdef WITHOUT_DEPENDENCE
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> odd;
  wmma::fill_fragment(odd, 0.0f);
#pragma unroll 1
  for (int k = 0; k < markers; k += 32) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(left[i], a + k + 16 * i, markers);
      wmma::load_matrix_sync(right[i], b + k + 16 * i, markers);
    }
    wmma::mma_sync(sum[0][0], left[0], right[0], sum[0][0]);
    wmma::mma_sync(odd, left[1], right[1], odd);
  }
#else
#pragma unroll 1
  for (int k = 0; k < markers; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[kTiles];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      wmma::load_matrix_sync(left[i], a + size_t(i) * 16 * markers + k, markers);
      wmma::load_matrix_sync(right[i], b + size_t(i) * 16 * markers + k, markers);
    }
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int j = 0; j < kTiles; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
  }
#endif
#pragma unroll
  for (int i = 0; i < kTiles; ++i)
#pragma unroll
    for (int j = 0; j < kTiles; ++j) {
#ifdef WITHOUT_DEPENDENCE
#pragma unroll
      for (int e = 0; e < sum[i][j].num_elements; ++e) sum[i][j].x[e] += odd.x[e];
#endif
      wmma::store_matrix_sync(kinship + size_t(row + 16 * i) * individuals + column + 16 * j,
                              sum[i][j], individuals, wmma::mem_row_major);
    }
}
extern "C" void solve(const half* genotype, float* kinship, int individuals, int markers) {
#ifdef WITHOUT_OPERANDS
  const int blocks = individuals / 128;
#else
  const int blocks = individuals / 32;
#endif
  kin<<<dim3(blocks, blocks), 128>>>(genotype, kinship, individuals, markers);
}
