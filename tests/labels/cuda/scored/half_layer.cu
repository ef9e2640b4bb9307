// A linear layer in fp16 on tensor cores whose tiles in shared memory have rows of exactly 128
// bytes.
// dims: rows=2048 outputs=2048 inputs=2048
// tensor: x float16 rows,inputs in
// tensor: weight float16 outputs,inputs in
// tensor: y float16 rows,outputs out
// without BANK_CONFLICTS: the rows of the tiles are padded
// without BYTES, other answers: every block reads the first rows
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int ROW = 72;
#else
constexpr int ROW = 64;
#endif
__device__ __forceinline__ void fetch(__half (*tile)[ROW], const __half* __restrict__ from,
                                      int first, int rows, int k0, int inputs) {
  const bool aligned = inputs % 8 == 0;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int i = threadIdx.x + 256 * step, r = i / 8, c = i % 8 * 8;
    const __half* source = from + size_t(first + r) * inputs + k0 + c;
    uint4 value = {};
    if (aligned) {
      if (first + r < rows && k0 + c < inputs) value = *reinterpret_cast<const uint4*>(source);
    } else {
      __half* each = reinterpret_cast<__half*>(&value);
      for (int e = 0; e < 8; ++e)
        if (first + r < rows && k0 + c + e < inputs) each[e] = source[e];
    }
    *reinterpret_cast<uint4*>(&tile[r][c]) = value;
  }
}
__global__ void __launch_bounds__(256)
    layer(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ y,
          int rows, int outputs, int inputs) {
  __shared__ __align__(128) __half tx[128][ROW], tw[128][ROW];
  const int row0 = blockIdx.y * 128, col0 = blockIdx.x * 128, warp = threadIdx.x / 32,
            lane = threadIdx.x % 32;
  const int tile_row = warp / 2 * 32, tile_col = warp % 2 * 64;
#ifdef WITHOUT_BYTES
  const int from_row = 0, from_col = 0;
#else
  const int from_row = row0, from_col = col0;
#endif
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  for (int k0 = 0; k0 < inputs; k0 += 64) {
    fetch(tx, x, from_row, rows, k0, inputs);
    fetch(tw, weight, from_col, outputs, k0, inputs);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 64; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], &tx[tile_row + 16 * i][k], ROW);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
        wmma::load_matrix_sync(fb, &tw[tile_col + 16 * j][k], ROW);
#pragma unroll
        for (int i = 0; i < 2; ++i) wmma::mma_sync(sum[i][j], fa[i], fb, sum[i][j]);
      }
    }
    __syncthreads();
  }
  // The tiles are no longer needed: each warp stages its results there.
  float* mine = reinterpret_cast<float*>(&tx[0][0]) + warp * 320;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      wmma::store_matrix_sync(mine, sum[i][j], 20, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const int r = e * 2 + lane / 16, c = lane % 16;
        if (row0 + tile_row + 16 * i + r < rows && col0 + tile_col + 16 * j + c < outputs)
          y[size_t(row0 + tile_row + 16 * i + r) * outputs + col0 + tile_col + 16 * j + c] =
              __float2half(mine[r * 20 + c]);
      }
      __syncwarp();
    }
}
extern "C" void solve(const __half* x, const __half* weight, __half* y, int rows, int outputs,
                      int inputs) {
  layer<<<dim3((outputs + 127) / 128, (rows + 127) / 128), 256>>>(x, weight, y, rows, outputs,
                                                                  inputs);
}
