// As v2, but the two values beside a thread's eight come from the neighboring lanes, which hold
// them already, instead of two more loads; only the first and last lane of a warp load them. Rows
// that are no multiple of 16 bytes take one thread an output.
//
// ABLATE_compute_warp_shuffle loads them.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 128;
constexpr int kRows = 7;  // of a thread

union Eight {
  uint4 all;
  __half_raw one[8];
};

__device__ float value_of(unsigned bits) {
  __half_raw raw;
  raw.x = static_cast<unsigned short>(bits);
  return __half2float(half(raw));
}

/// Ten neighbors of a row from `column` - 1 on, zeros outside of the plane. All lanes of the warp
/// call it.
__device__ void load_ten(float (&to)[10], const half* in, int row, int column, int h, int w) {
  const bool inside = row >= 0 && row < h;
  const half* from = in + (inside ? row : 0) * w + column;
  Eight eight;
  eight.all = inside ? *reinterpret_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
  to[0] = to[9] = 0;
#ifndef ABLATE_compute_warp_shuffle
  const int lane = threadIdx.x % 32;
  const unsigned before = __shfl_up_sync(~0u, static_cast<unsigned>(eight.one[7].x), 1);
  const unsigned after = __shfl_down_sync(~0u, static_cast<unsigned>(eight.one[0].x), 1);
  if (inside && column > 0) to[0] = lane > 0 ? value_of(before) : __half2float(from[-1]);
  if (inside && column + 8 < w) to[9] = lane < 31 ? value_of(after) : __half2float(from[8]);
#else
  if (inside && column > 0) to[0] = __half2float(from[-1]);
  if (inside && column + 8 < w) to[9] = __half2float(from[8]);
#endif
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
  const int64_t place = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t strip =
      place < strips ? place : strips - 1;  // every lane takes part in the shuffles
  const int columns = w / 8, bands = (h + kRows - 1) / kRows;
  const int column = strip % columns * 8, first = strip / columns % bands * kRows;
  const int64_t plane = strip / columns / bands;
  const half* in = x + plane * h * w;
  half* out = y + plane * h * w;
  float f[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) f[i] = __half2float(weight[plane % c * 9 + i]);
  float sums[3][8] = {};  // of the row above, this row, the row below
#pragma unroll
  for (int r = -1; r <= kRows; ++r) {
    float ten[10];
    load_ten(ten, in, first + r, column, h, w);
    if (r >= 1) add_row(sums[(r + 2) % 3], f + 6, ten);
    if (r >= 0 && r < kRows) add_row(sums[r % 3], f + 3, ten);
    if (r < kRows - 1) add_row(sums[(r + 1) % 3], f, ten);
    if (r < 1) continue;
    if (place < strips && first + r - 1 < h)
      store_eight(out + (first + r - 1) * w + column, sums[(r + 2) % 3]);
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
