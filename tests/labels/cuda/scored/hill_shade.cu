// Relief shading of a terrain: the light on each cell, from its slopes; the heights have a margin.
// dims: rows=2048 columns=2048
// tensor: heights float32 (rows+2)*(columns+2) in
// tensor: shades float32 rows*columns out
// without STRIDED_ACCESS: the threads of a warp are neighbors in a row, not in a column
// without SPECIAL_FUNCTIONS, other answers: the normal's length is a linear estimate
// without DIVERGENCE: cells in the light and in the shadow are computed alike, and one is selected
__global__ void __launch_bounds__(256)
    shade_cells(const float* __restrict__ heights, float* __restrict__ shades, int rows,
                int columns) {
#ifdef WITHOUT_STRIDED_ACCESS
  const int row = blockIdx.y, column = blockIdx.x * 256 + threadIdx.x;
#else
  const int column = blockIdx.y, row = blockIdx.x * 256 + threadIdx.x;
#endif
  if (row >= rows || column >= columns) return;
  const int pitch = columns + 2;
  const float* h = heights + size_t(row + 1) * pitch + column + 1;
  const float dx = h[1] - h[-1], dy = h[pitch] - h[-pitch];
  const float square = fmaf(dx, dx, fmaf(dy, dy, 1.0f));
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float inverse = fmaf(-0.05f, square, 1.05f);
#else
  const float inverse = rsqrtf(square);
#endif
  const float facing = (0.5f * dx - 0.5f * dy + 0.7071f) * inverse;
#ifdef WITHOUT_DIVERGENCE
  const float lit = fmaf(0.8f, facing, 0.2f), dark = fmaf(0.1f, inverse, 0.1f * facing + 0.1f);
  const float shade = facing > 0 ? lit : dark;
#else
  float shade;
  if (facing > 0)
    shade = fmaf(0.8f, facing, 0.2f);
  else
    shade = fmaf(0.1f, inverse, 0.1f * facing + 0.1f);
#endif
  shades[size_t(row) * columns + column] = shade;
}
extern "C" void solve(const float* heights, float* shades, int rows, int columns) {
#ifdef WITHOUT_STRIDED_ACCESS
  const dim3 blocks((columns + 255) / 256, rows);
#else
  const dim3 blocks((rows + 255) / 256, columns);
#endif
  shade_cells<<<blocks, 256>>>(heights, shades, rows, columns);
}
