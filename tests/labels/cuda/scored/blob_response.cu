// Blob detection: a 9 x 9 Laplacian of a Gaussian at each pixel of an image, which comes with
// margins of four pixels; a thread fetches the 81 pixels around its own.
// dims: rows=2048 columns=4096
// tensor: image float32 (rows+8)*(columns+8) in
// tensor: response float32 rows,columns out
// without REPEATED_READS: a thread has eight pixels below each other and uses what it fetched for all
// without INTEGER_DIVISION: the place comes from a two-dimensional grid
// without BYTES, other answers: all rows are made from the first few
struct Taps {
  float of[81];
  constexpr Taps() : of() {
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 9; ++x) {
        const int r = (y - 4) * (y - 4) + (x - 4) * (x - 4);
        // a rational stand-in for the Gaussian, so that no library function is needed
        const float g = 1.0f / (1.0f + 0.25f * r + 0.03125f * r * r);
        of[9 * y + x] = (1.0f - 0.25f * r) * g;
      }
  }
};
__global__ void __launch_bounds__(256)
    blobs(const float* __restrict__ image, float* __restrict__ response, int rows, int columns) {
  constexpr Taps taps;
#ifdef WITHOUT_REPEATED_READS
  constexpr int kRows = 8;
#else
  constexpr int kRows = 1;
#endif
#ifdef WITHOUT_INTEGER_DIVISION
  const int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y * kRows;
#else
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int x = i % columns, y = i / columns * kRows;
#endif
  if (x >= columns || y + kRows > rows) return;
  const int pitch = columns + 8;
#ifdef WITHOUT_BYTES
  const float* corner = image + size_t(y & 15) * pitch + x;
#else
  const float* corner = image + size_t(y) * pitch + x;
#endif
  float sum[kRows] = {};
#pragma unroll
  for (int line = 0; line < kRows + 8; ++line) {
    float pixel[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) pixel[k] = corner[line * pitch + k];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (line - r >= 0 && line - r < 9) {
#pragma unroll
        for (int k = 0; k < 9; ++k)
          sum[r] = __fmaf_rn(taps.of[9 * (line - r) + k], pixel[k], sum[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) response[size_t(y + r) * columns + x] = sum[r];
}
extern "C" void solve(const float* image, float* response, int rows, int columns) {
#ifdef WITHOUT_REPEATED_READS
  const int lines = rows / 8;
#else
  const int lines = rows;
#endif
#ifdef WITHOUT_INTEGER_DIVISION
  blobs<<<dim3((columns + 255) / 256, lines), 256>>>(image, response, rows, columns);
#else
  blobs<<<(lines * columns + 255) / 256, 256>>>(image, response, rows, columns);
#endif
}
