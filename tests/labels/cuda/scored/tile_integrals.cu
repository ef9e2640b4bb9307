// Integral image of each 32 x 32 tile: sums down the columns, then along the rows, a warp per tile.
// dims: rows=2048 columns=4096
// tensor: image float32 rows,columns in
// tensor: integrals float32 rows,columns out
// without BANK_CONFLICTS: the rows of a tile are padded to 33 elements
// without SERIAL_LOADS: eight elements of a row are loaded before they are added
// without BYTES, other answers: all warps read the first tiles of the image
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int kPitch = 33;
#else
constexpr int kPitch = 32;
#endif
constexpr int kWarps = 8;
__global__ void __launch_bounds__(32 * kWarps)
    integrate(const float* __restrict__ image, float* __restrict__ integrals, int columns) {
  __shared__ float tiles[kWarps][32 * kPitch];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* tile = tiles[warp];
  const size_t corner =
      size_t(blockIdx.y) * 32 * columns + (blockIdx.x * kWarps + warp) * 32 + lane;
#ifdef WITHOUT_BYTES
  const float* from = image + warp * 32 + lane;
#else
  const float* from = image + corner;
#endif
  float sum = 0;
#pragma unroll 8
  for (int row = 0; row < 32; ++row) {
    sum += from[size_t(row) * columns];
    tile[row * kPitch + lane] = sum;
  }
  __syncwarp();
  float* own = tile + lane * kPitch;
  sum = 0;
#ifdef WITHOUT_SERIAL_LOADS
#pragma unroll
  for (int column = 0; column < 32; column += 8) {
    float next[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) next[k] = own[column + k];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      sum += next[k];
      own[column + k] = sum;
    }
  }
#else
#pragma unroll 1
  for (int column = 0; column < 32; ++column) {
    sum += own[column];
    own[column] = sum;
  }
#endif
  __syncwarp();
#pragma unroll 8
  for (int row = 0; row < 32; ++row)
    integrals[corner + size_t(row) * columns] = tile[row * kPitch + lane];
}
extern "C" void solve(const float* image, float* integrals, int rows, int columns) {
  if (rows % 32 || columns % (32 * kWarps)) return;
  integrate<<<dim3(columns / (32 * kWarps), rows / 32), 32 * kWarps>>>(image, integrals, columns);
}
