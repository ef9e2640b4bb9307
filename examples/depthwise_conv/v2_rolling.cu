// Eight neighbors of a row a thread, and seven rows one after the other: a row is loaded and
// converted once and adds to the three outputs that it belongs to. Rows that are no multiple of 16
// bytes take one thread an output.
//
// ABLATE_compute_ilp_unroll_register_tile loads three rows for every row of outputs.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 128;
constexpr int kRows = 7;  // of a thread

union Eight {
  uint4 all;
  __half_raw one[8];
};

/// Ten neighbors of a row from `column` - 1 on, zeros outside of the plane.
__device__ void load_ten(float (&to)[10], const half* in, int row, int column, int h, int w) {
  if (row < 0 || row >= h) {
#pragma unroll
    for (int i = 0; i < 10; ++i) to[i] = 0;
    return;
  }
  const half* from = in + row * w + column;
  Eight eight;
  eight.all = *reinterpret_cast<const uint4*>(from);
  to[0] = column > 0 ? __half2float(from[-1]) : 0.0f;
  to[9] = column + 8 < w ? __half2float(from[8]) : 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i + 1] = __half2float(half(eight.one[i]));
}

__device__ void add_row(float (&sums)[8], const float* f, const float (&ten)[10]) {
#pragma unroll
  for (int j = 0; j < 3; ++j)
#pragma unroll
    for (int s = 0; s < 8; ++s) sums[s] += f[j] * ten[s + j];
}

__device__ void store_eight(half* out, const float (&sums)[8]) {
  Eight eight;
#pragma unroll
  for (int s = 0; s < 8; ++s) eight.one[s] = __float2half(sums[s]);
  *reinterpret_cast<uint4*>(out) = eight.all;
}

__global__ void __launch_bounds__(kThreads)
    convolve(const half* x, const half* weight, half* y, int64_t strips, int c, int h, int w) {
  const int64_t strip = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (strip >= strips) return;
  const int columns = w / 8, bands = (h + kRows - 1) / kRows;
  const int column = strip % columns * 8, first = strip / columns % bands * kRows;
  const int64_t plane = strip / columns / bands;
  const half* in = x + plane * h * w;
  half* out = y + plane * h * w;
  float f[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) f[i] = __half2float(weight[plane % c * 9 + i]);
#ifndef ABLATE_compute_ilp_unroll_register_tile
  float sums[3][8] = {};  // of the row above, this row, the row below
#pragma unroll
  for (int r = -1; r <= kRows; ++r) {
    float ten[10];
    load_ten(ten, in, first + r, column, h, w);
    if (r >= 1) add_row(sums[(r + 2) % 3], f + 6, ten);
    if (r >= 0 && r < kRows) add_row(sums[r % 3], f + 3, ten);
    if (r < kRows - 1) add_row(sums[(r + 1) % 3], f, ten);
    if (r < 1) continue;
    if (first + r - 1 < h) store_eight(out + (first + r - 1) * w + column, sums[(r + 2) % 3]);
#pragma unroll
    for (int s = 0; s < 8; ++s) sums[(r + 2) % 3][s] = 0;
  }
#else
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (first + r >= h) return;
    float sums[8] = {};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      float ten[10];
      load_ten(ten, in, first + r + i - 1, column, h, w);
      add_row(sums, f + 3 * i, ten);
    }
    store_eight(out + (first + r) * w + column, sums);
  }
#endif
}

/// Rows that are no multiple of 16 bytes: one thread an output.
__global__ void __launch_bounds__(kThreads)
    convolve_any(const half* x, const half* weight, half* y, int64_t outputs, int c, int h, int w) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= outputs) return;
  const int column = at % w, row = at / w % h, channel = at / w / h % c;
  float sum = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      if (row + i >= 0 && row + i < h && column + j >= 0 && column + j < w)
        sum += __half2float(weight[channel * 9 + (i + 1) * 3 + j + 1]) *
               __half2float(x[at + i * w + j]);
  y[at] = __float2half(sum);
}

}  // namespace

extern "C" void solve(const half* x, const half* weight, half* y, int n, int c, int h, int w) {
  const int64_t outputs = static_cast<int64_t>(n) * c * h * w;
  const auto places = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y);
  if (w % 8 != 0 || places % 16 != 0) {
    convolve_any<<<static_cast<unsigned>((outputs + kThreads - 1) / kThreads), kThreads>>>(
        x, weight, y, outputs, c, h, w);
    return;
  }
  const int64_t strips = static_cast<int64_t>(n) * c * ((h + kRows - 1) / kRows) * (w / 8);
  convolve<<<static_cast<unsigned>((strips + kThreads - 1) / kThreads), kThreads>>>(
      x, weight, y, strips, c, h, w);
}
