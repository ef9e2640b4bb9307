// A thread walks down a column of 14 outputs and keeps the nine values of its window in registers:
// three loads an output instead of nine.
//
// ABLATE_compute_ilp_unroll_register_tile loads all nine for every output.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;
constexpr int kRows = 14;  // of a thread

/// Three neighbors of a row, zeros outside of the plane.
__device__ void load_three(float (&to)[3], const half* in, int row, int column, int h, int w) {
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const int at = column + j - 1;
    to[j] = row >= 0 && row < h && at >= 0 && at < w ? __half2float(in[row * w + at]) : 0.0f;
  }
}

__global__ void __launch_bounds__(kThreads)
    convolve(const half* x, const half* weight, half* y, int64_t strips, int c, int h, int w) {
  const int64_t strip = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (strip >= strips) return;
  const int column = strip % w, bands = (h + kRows - 1) / kRows;
  const int first = strip / w % bands * kRows;
  const int64_t plane = strip / w / bands;
  const half* in = x + plane * h * w;
  half* out = y + plane * h * w;
  float f[9], window[3][3];
#pragma unroll
  for (int i = 0; i < 9; ++i) f[i] = __half2float(weight[plane % c * 9 + i]);
  load_three(window[0], in, first - 1, column, h, w);
  load_three(window[1], in, first, column, h, w);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = first + r;
    if (row >= h) return;
#ifdef ABLATE_compute_ilp_unroll_register_tile
    load_three(window[r % 3], in, row - 1, column, h, w);
    load_three(window[(r + 1) % 3], in, row, column, h, w);
#endif
    load_three(window[(r + 2) % 3], in, row + 1, column, h, w);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j) sum += f[3 * i + j] * window[(r + i) % 3][j];
    out[row * w + column] = __float2half(sum);
  }
}

}  // namespace

extern "C" void solve(const half* x, const half* weight, half* y, int n, int c, int h, int w) {
  const int64_t strips = static_cast<int64_t>(n) * c * ((h + kRows - 1) / kRows) * w;
  convolve<<<static_cast<unsigned>((strips + kThreads - 1) / kThreads), kThreads>>>(
      x, weight, y, strips, c, h, w);
}
