// A block takes a plane: cp.async brings it into shared memory in 16-byte pieces, and the threads
// walk down strips of eight columns as in v2, from shared memory. Planes that do not fit, or whose
// rows are no multiple of 16 bytes, take one thread an output.
//
// ABLATE_memory_async_copy loads into registers and stores to shared memory.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 64;
constexpr int kMostValues = 24 * 1024;  // of a plane, 48 KB
constexpr int kRows = 7;                // of a thread

union Eight {
  uint4 all;
  __half_raw one[8];
};

__device__ void copy_16(uint32_t to, const half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from) : "memory");
}

__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;\n" ::: "memory");
}

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

/// Seven rows of eight outputs.
__device__ void convolve_strip(const half* in, half* out, const float (&f)[9], int column,
                               int first, int h, int w) {
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
}

__global__ void __launch_bounds__(kThreads)
    convolve(const half* x, const half* weight, half* y, int c, int h, int w) {
  extern __shared__ __align__(16) half kept[];
  const int64_t plane = blockIdx.x;
  const half* in = x + plane * h * w;
  half* out = y + plane * h * w;
  for (int i = threadIdx.x; i < h * w / 8; i += kThreads) {
#ifndef ABLATE_memory_async_copy
    copy_16(static_cast<uint32_t>(__cvta_generic_to_shared(kept)) + 16 * i, in + 8 * i);
#else
    reinterpret_cast<uint4*>(kept)[i] = reinterpret_cast<const uint4*>(in)[i];
#endif
  }
  float f[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) f[i] = __half2float(weight[plane % c * 9 + i]);
#ifndef ABLATE_memory_async_copy
  wait_for_copies();
#endif
  __syncthreads();
  const int columns = w / 8, strips = (h + kRows - 1) / kRows * columns;
  for (int strip = threadIdx.x; strip < strips; strip += kThreads)
    convolve_strip(kept, out, f, strip % columns * 8, strip / columns * kRows, h, w);
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
  if (w % 8 != 0 || places % 16 != 0 || static_cast<int64_t>(h) * w > kMostValues) {
    convolve_any<<<static_cast<unsigned>((outputs + kThreads - 1) / kThreads), kThreads>>>(
        x, weight, y, outputs, c, h, w);
    return;
  }
  convolve<<<n * c, kThreads, sizeof(half) * h * w>>>(x, weight, y, c, h, w);
}
