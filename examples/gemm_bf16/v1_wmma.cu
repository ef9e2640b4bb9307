// Tensor cores through wmma: blocks of 128 x 128, tiles of 32 along k in shared memory, loaded and
// used in turn. Sizes that are no multiple of the tiles take one thread an element.
#include <cuda_bf16.h>
#include <mma.h>

namespace {

using Number = __nv_bfloat16;
namespace wmma = nvcuda::wmma;

constexpr int kThreads = 256;
constexpr int kM = 128, kN = 128, kK = 32;
constexpr int kPad = 8;  // shifts rows by 16 bytes, so that the rows of a fragment use all banks

__global__ void __launch_bounds__(kThreads)
    product(const Number* a, const Number* b, Number* c, int n, int k) {
  __shared__ __align__(16) Number left[kM][kK + kPad];
  __shared__ __align__(16) Number right[kK][kN + kPad];
  __shared__ __align__(16) float patch[kThreads / 32][16][16];
  const long long row = static_cast<long long>(blockIdx.y) * kM;
  const int column = blockIdx.x * kN;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 64;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][4];
  for (auto& line : sums)
    for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);

  for (int begin = 0; begin < k; begin += kK) {
    for (int i = threadIdx.x; i < kM * kK / 8; i += kThreads) {
      const int r = i / (kK / 8), l = i % (kK / 8) * 8;
      *reinterpret_cast<uint4*>(&left[r][l]) =
          *reinterpret_cast<const uint4*>(a + (row + r) * k + begin + l);
    }
    for (int i = threadIdx.x; i < kK * kN / 8; i += kThreads) {
      const int l = i / (kN / 8), s = i % (kN / 8) * 8;
      *reinterpret_cast<uint4*>(&right[l][s]) =
          *reinterpret_cast<const uint4*>(b + static_cast<long long>(begin + l) * n + column + s);
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kK; l += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, Number, wmma::row_major> as[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, Number, wmma::row_major> bs[4];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(as[i], &left[warp_row + 16 * i][l], kK + kPad);
      for (int j = 0; j < 4; ++j)
        wmma::load_matrix_sync(bs[j], &right[l][warp_column + 16 * j], kN + kPad);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) wmma::mma_sync(sums[i][j], as[i], bs[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      wmma::store_matrix_sync(&patch[warp][0][0], sums[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      Number* out = c + (row + warp_row + 16 * i) * n + column + warp_column + 16 * j;
      for (int e = lane; e < 256; e += 32)
        out[static_cast<long long>(e / 16) * n + e % 16] = __float2bfloat16(patch[warp][e / 16][e % 16]);
      __syncwarp();
    }
}

__global__ void product_any(const Number* a, const Number* b, Number* c, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l)
    sum += __bfloat162float(a[static_cast<long long>(row) * k + l]) *
           __bfloat162float(b[static_cast<long long>(l) * n + column]);
  c[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}

}  // namespace

extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  if (m % kM == 0 && n % kN == 0 && k % kK == 0)
    product<<<dim3(n / kN, m / kM), kThreads>>>(a, b, c, n, k);
  else
    product_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
}
