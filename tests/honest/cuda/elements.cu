// Activations, histograms and quantizers, as they are usually written, and shortcuts of them.
//
// passes: gelu_erf gelu
// passes: gelu_half gelu_fp16 gelu_fp16_close
// passes: silu_exact silu
// passes: silu_fast silu
// passes: silu_bfloat silu_bf16
// passes: histogram_global histogram
// passes: histogram_shared histogram
// passes: quantize_divide quantize
// passes: quantize_multiply quantize
// refused: gelu_tanh gelu
// refused: gelu_without_last gelu
// refused: silu_half silu
// refused: silu_of_relu silu_bf16
// refused: histogram_without_last_tile histogram
// refused: histogram_race histogram
// refused: quantize_by_half_row quantize
// refused: quantize_unsigned quantize
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

template <class T, class Function>
__global__ void map(const T* x, T* y, int n, Function function) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = T(function(float(x[i])));
}
struct GeluErf {
  __device__ float operator()(float x) const { return 0.5f * x * (1 + erff(x * 0.70710678f)); }
};
struct GeluTanh {
  __device__ float operator()(float x) const {
    return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
};
struct Silu {
  __device__ float operator()(float x) const { return x / (1 + expf(-x)); }
};
struct FastSilu {
  __device__ float operator()(float x) const { return x / (1 + __expf(-x)); }
};
struct HalfSilu {
  __device__ float operator()(float x) const {
    return __half2float(__float2half(x / (1 + __half2float(hexp(__float2half(-x))))));
  }
};
struct Relu {
  __device__ float operator()(float x) const { return fmaxf(x, 0.0f); }
};

extern "C" void gelu_erf(const float* x, float* y, int n) {
  map<<<264, 256>>>(x, y, n, GeluErf());
}
extern "C" void gelu_half(const half* x, half* y, int n) {
  map<<<264, 256>>>(x, y, n, GeluErf());
}
extern "C" void silu_exact(const float* x, float* y, int n) {
  map<<<264, 256>>>(x, y, n, Silu());
}
extern "C" void silu_fast(const float* x, float* y, int n) {
  map<<<264, 256>>>(x, y, n, FastSilu());
}
extern "C" void silu_bfloat(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  map<<<264, 256>>>(x, y, n, Silu());
}
extern "C" void gelu_tanh(const float* x, float* y, int n) {
  map<<<264, 256>>>(x, y, n, GeluTanh());
}
extern "C" void gelu_without_last(const float* x, float* y, int n) {
  map<<<264, 256>>>(x, y, n - 1, GeluErf());
}
extern "C" void silu_half(const float* x, float* y, int n) {
  map<<<264, 256>>>(x, y, n, HalfSilu());
}
extern "C" void silu_of_relu(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  map<<<264, 256>>>(x, y, n, Relu());
}

__global__ void clear(int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0;
}
__global__ void count_globally(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y + x[i], 1);
}
__global__ void count_in_shared(const int* x, int* y, int n, int bins) {
  extern __shared__ int counts[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(counts + x[i], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(y + b, counts[b]);
}
__global__ void count_without_atomics(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++y[x[i]];
}
extern "C" void histogram_global(const int* x, int* y, int n, int bins) {
  clear<<<(bins + 255) / 256, 256>>>(y, bins);
  count_globally<<<(n + 255) / 256, 256>>>(x, y, n);
}
extern "C" void histogram_shared(const int* x, int* y, int n, int bins) {
  clear<<<(bins + 255) / 256, 256>>>(y, bins);
  count_in_shared<<<132, 256, bins * sizeof(int)>>>(x, y, n, bins);
}
extern "C" void histogram_without_last_tile(const int* x, int* y, int n, int bins) {
  clear<<<(bins + 255) / 256, 256>>>(y, bins);
  count_globally<<<(n + 255) / 256, 256>>>(x, y, n - 8);
}
extern "C" void histogram_race(const int* x, int* y, int n, int bins) {
  clear<<<(bins + 255) / 256, 256>>>(y, bins);
  count_without_atomics<<<(n + 255) / 256, 256>>>(x, y, n);
}

// A block quantizes a row by the largest magnitude of its first `seen` columns.
template <bool divide>
__global__ void quantize_rows(const float* x, int8_t* y, int cols, int seen, float least) {
  __shared__ float most[256];
  x += static_cast<long long>(blockIdx.x) * cols;
  y += static_cast<long long>(blockIdx.x) * cols;
  float largest = 1e-8f;
  for (int c = threadIdx.x; c < seen; c += 256) largest = fmaxf(largest, fabsf(x[c]));
  most[threadIdx.x] = largest;
  __syncthreads();
  for (int width = 128; width > 0; width /= 2) {
    if (threadIdx.x < width)
      most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + width]);
    __syncthreads();
  }
  const float step = most[0] / 127, factor = 127 / most[0];
  for (int c = threadIdx.x; c < cols; c += 256) {
    const float scaled = rintf(divide ? x[c] / step : x[c] * factor);
    y[c] = static_cast<int8_t>(fminf(127.0f, fmaxf(least, scaled)));
  }
}
extern "C" void quantize_divide(const float* x, int8_t* y, int rows, int cols) {
  quantize_rows<true><<<rows, 256>>>(x, y, cols, cols, -128);
}
extern "C" void quantize_multiply(const float* x, int8_t* y, int rows, int cols) {
  quantize_rows<false><<<rows, 256>>>(x, y, cols, cols, -128);
}
extern "C" void quantize_by_half_row(const float* x, int8_t* y, int rows, int cols) {
  quantize_rows<true><<<rows, 256>>>(x, y, cols, (cols + 1) / 2, -128);
}
extern "C" void quantize_unsigned(const float* x, int8_t* y, int rows, int cols) {
  quantize_rows<true><<<rows, 256>>>(x, y, cols, cols, 0);
}
