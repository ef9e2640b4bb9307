// A thread makes eight neighbors of a row: three 16-byte loads, six single ones at the ends, one
// 16-byte store. Rows that are no multiple of 16 bytes take one thread an output.
//
// ABLATE_memory_vectorized_access loads and stores one value at a time.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;

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
#ifndef ABLATE_memory_vectorized_access
  eight.all = *reinterpret_cast<const uint4*>(from);
#else
#pragma unroll
  for (int i = 0; i < 8; ++i)
    eight.one[i].x = *reinterpret_cast<const volatile unsigned short*>(from + i);
#endif
  to[0] = column > 0 ? __half2float(from[-1]) : 0.0f;
  to[9] = column + 8 < w ? __half2float(from[8]) : 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i + 1] = __half2float(half(eight.one[i]));
}

__global__ void __launch_bounds__(kThreads)
    convolve(const half* x, const half* weight, half* y, int64_t groups, int c, int h, int w) {
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (group >= groups) return;
  const int column = group % (w / 8) * 8, row = group / (w / 8) % h;
  const int64_t plane = group / (w / 8) / h;
  const half* in = x + plane * h * w;
  float sums[8] = {};
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    float ten[10];
    load_ten(ten, in, row + i - 1, column, h, w);
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      const float f = __half2float(weight[plane % c * 9 + 3 * i + j]);
#pragma unroll
      for (int s = 0; s < 8; ++s) sums[s] += f * ten[s + j];
    }
  }
  Eight eight;
#pragma unroll
  for (int s = 0; s < 8; ++s) eight.one[s] = __float2half(sums[s]);
  half* out = y + plane * h * w + row * w + column;
#ifndef ABLATE_memory_vectorized_access
  *reinterpret_cast<uint4*>(out) = eight.all;
#else
#pragma unroll
  for (int s = 0; s < 8; ++s) *reinterpret_cast<volatile unsigned short*>(out + s) = eight.one[s].x;
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
  if (w % 8 == 0 && places % 16 == 0)
    convolve<<<static_cast<unsigned>((outputs / 8 + kThreads - 1) / kThreads), kThreads>>>(
        x, weight, y, outputs / 8, c, h, w);
  else
    convolve_any<<<static_cast<unsigned>((outputs + kThreads - 1) / kThreads), kThreads>>>(
        x, weight, y, outputs, c, h, w);
}
