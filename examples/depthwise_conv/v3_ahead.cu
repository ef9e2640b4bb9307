// As v2, but all nine rows of a thread are asked for before the first is used, so that nine 16-byte
// loads are in flight instead of what the compiler moves ahead. Rows that are no multiple of 16
// bytes take one thread an output.
//
// ABLATE_compute_overlap_compute_memory loads every row just before it is used.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 128;
constexpr int kRows = 7;  // of a thread

union Eight {
  uint4 all;
  __half_raw one[8];
};

/// Ten neighbors of a row from `column` - 1 on, as they are loaded.
struct Ten {
  Eight eight;
  __half_raw before, after;
};

/// Zeros outside of the plane.
__device__ Ten load_ten(const half* in, int row, int column, int h, int w) {
  Ten ten;
  ten.eight.all = make_uint4(0, 0, 0, 0);
  ten.before.x = ten.after.x = 0;
  if (row < 0 || row >= h) return ten;
  const half* from = in + row * w + column;
  ten.eight.all = *reinterpret_cast<const uint4*>(from);
  if (column > 0) ten.before = from[-1];
  if (column + 8 < w) ten.after = from[8];
  return ten;
}

__device__ void convert(float (&to)[10], const Ten& ten) {
  to[0] = __half2float(half(ten.before));
  to[9] = __half2float(half(ten.after));
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i + 1] = __half2float(half(ten.eight.one[i]));
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
#ifndef ABLATE_compute_overlap_compute_memory
  Ten rows[kRows + 2];
#pragma unroll
  for (int r = 0; r < kRows + 2; ++r) rows[r] = load_ten(in, first + r - 1, column, h, w);
#endif
  float sums[3][8] = {};  // of the row above, this row, the row below
#pragma unroll
  for (int r = -1; r <= kRows; ++r) {
    float ten[10];
#ifndef ABLATE_compute_overlap_compute_memory
    convert(ten, rows[r + 1]);
#else
    convert(ten, load_ten(in, first + r, column, h, w));
#endif
    if (r >= 1) add_row(sums[(r + 2) % 3], f + 6, ten);
    if (r >= 0 && r < kRows) add_row(sums[r % 3], f + 3, ten);
    if (r < kRows - 1) add_row(sums[(r + 1) % 3], f, ten);
    if (r < 1) continue;
    if (first + r - 1 < h) store_eight(out + (first + r - 1) * w + column, sums[(r + 2) % 3]);
#pragma unroll
    for (int s = 0; s < 8; ++s) sums[(r + 2) % 3][s] = 0;
  }
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
