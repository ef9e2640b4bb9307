// Gradient of the bias of a linear layer: sums a half-precision matrix over its rows.
// dims: rows=1024 cols=16384
// tensor: x float16 rows,cols in
// tensor: y float32 cols out
// without FEW_BLOCKS: 16 blocks share the rows, a second kernel adds their sums
// without SERIAL_LOADS: loads 32 rows before it adds them
// without NARROW_ACCESS: a thread takes two columns with one load
#include <cuda_fp16.h>
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kParts = 16;
__device__ float partial[kParts * 16384];
#else
constexpr int kParts = 1;
#endif
#ifdef WITHOUT_SERIAL_LOADS
constexpr int kAtOnce = 32;
#else
constexpr int kAtOnce = 2;
#endif
#ifdef WITHOUT_NARROW_ACCESS
using Element = __half2;
using Sum = float2;
__device__ void add(Sum& sum, Element value) {
  const float2 both = __half22float2(value);
  sum.x += both.x;
  sum.y += both.y;
}
#else
using Element = __half;
using Sum = float;
__device__ void add(Sum& sum, Element value) {
  sum += __half2float(value);
}
#endif

__global__ void __launch_bounds__(256)
    sum_rows(const Element* __restrict__ x, Sum* y, int rows, int cols) {
  const int col = blockIdx.x * 256 + threadIdx.x;
  if (col >= cols) return;
  const int count = rows / kParts;
  const Element* mine = x + blockIdx.y * count * cols + col;
  Sum sum = {};
#pragma unroll 1
  for (int row = 0; row < count; row += kAtOnce) {
    Element values[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) values[k] = mine[(row + k) * cols];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) add(sum, values[k]);
  }
#ifdef WITHOUT_FEW_BLOCKS
  reinterpret_cast<Sum*>(partial)[blockIdx.y * cols + col] = sum;
#else
  y[col] = sum;
#endif
}

#ifdef WITHOUT_FEW_BLOCKS
__global__ void add_parts(float* y, int cols) {
  const int col = blockIdx.x * 128 + threadIdx.x;
  if (col >= cols) return;
  float sum = 0;
#pragma unroll
  for (int part = 0; part < kParts; ++part) sum += partial[part * cols + col];
  y[col] = sum;
}
#endif

extern "C" void solve(const __half* x, float* y, int rows, int cols) {
  const int columns = cols / int(sizeof(Element) / sizeof(__half));
  sum_rows<<<dim3((columns + 255) / 256, kParts), 256>>>(reinterpret_cast<const Element*>(x),
                                                         reinterpret_cast<Sum*>(y), rows, columns);
#ifdef WITHOUT_FEW_BLOCKS
  add_parts<<<(cols + 127) / 128, 128>>>(y, cols);
#endif
}
