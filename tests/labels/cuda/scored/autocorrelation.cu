// Autocovariances of many series of 1024 values, at lags from 0 to 63; a block per series.
// dims: series=8192
// tensor: x float32 series*1024 in
// tensor: covariance float32 series*64 out
// without SHARED_TRAFFIC: a thread has four lags and a window of the series in registers
// without DEPENDENCE: the products are added to two sums in turn
// without BYTES, other answers: all blocks read the first series
#include <cuda_runtime.h>
constexpr int kLength = 1024, kLags = 64;
#ifdef WITHOUT_SHARED_TRAFFIC
constexpr int kOwn = 4;  // lags of a thread
#else
constexpr int kOwn = 1;
#endif
constexpr int kSpans = 256 * kOwn / kLags, kSpan = kLength / kSpans;

__global__ void __launch_bounds__(256)
    covary(const float* __restrict__ x, float* __restrict__ covariance) {
  __shared__ __align__(16) float values[kLength + kLags + 4];
  __shared__ float partial[kSpans][kLags];
#ifdef WITHOUT_BYTES
  const float* from = x;
#else
  const float* from = x + size_t(blockIdx.x) * kLength;
#endif
  for (int i = threadIdx.x; i < kLength + kLags + 4; i += 256)
    values[i] = i < kLength ? from[i] : 0;
  __syncthreads();
  const int lag = threadIdx.x % (kLags / kOwn) * kOwn, span = threadIdx.x / (kLags / kOwn);
  const float* base = values + span * kSpan;
#ifdef WITHOUT_SHARED_TRAFFIC
  float sum[4] = {}, window[8];
  *reinterpret_cast<float4*>(window) = *reinterpret_cast<const float4*>(base + lag);
#pragma unroll 4
  for (int i = 0; i < kSpan; i += 4) {
    float a[4];
    *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(base + i);
    *reinterpret_cast<float4*>(window + 4) = *reinterpret_cast<const float4*>(base + lag + i + 4);
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += a[k] * window[k + j];
#pragma unroll
    for (int k = 0; k < 4; ++k) window[k] = window[k + 4];
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) partial[span][lag + j] = sum[j];
#elif defined(WITHOUT_DEPENDENCE)
  float even = 0, odd = 0;
#pragma unroll 4
  for (int i = 0; i < kSpan; i += 2) {
    even += base[i] * base[i + lag];
    odd += base[i + 1] * base[i + 1 + lag];
  }
  partial[span][lag] = even + odd;
#else
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < kSpan; ++i) sum += base[i] * base[i + lag];
  partial[span][lag] = sum;
#endif
  __syncthreads();
  if (threadIdx.x >= kLags) return;
  float total = 0;
#pragma unroll
  for (int k = 0; k < kSpans; ++k) total += partial[k][threadIdx.x];
  covariance[blockIdx.x * kLags + threadIdx.x] = total * (1.0f / kLength);
}

extern "C" void solve(const float* x, float* covariance, int series) {
  covary<<<series, 256>>>(x, covariance);
}
