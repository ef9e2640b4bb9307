#include <cuda_runtime.h>

constexpr int kThreads = 256;

// Row softmax: one block per row, coalesced loads, reductions in shared memory; the row is read
// three times.
__global__ void softmax(const float* x, float* y, int cols) {
  __shared__ float scratch[kThreads];
  const float* in = x + (long)blockIdx.x * cols;
  float* out = y + (long)blockIdx.x * cols;
  const int t = threadIdx.x;

  float top = -INFINITY;
  for (int c = t; c < cols; c += kThreads) top = fmaxf(top, in[c]);
  scratch[t] = top;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] = fmaxf(scratch[t], scratch[t + half]);
    __syncthreads();
  }
  top = scratch[0];
  __syncthreads();

  float sum = 0;
  for (int c = t; c < cols; c += kThreads) sum += expf(in[c] - top);
  scratch[t] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] += scratch[t + half];
    __syncthreads();
  }
  const float scale = 1 / scratch[0];
  for (int c = t; c < cols; c += kThreads) out[c] = expf(in[c] - top) * scale;
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
  softmax<<<rows, kThreads>>>(x, y, cols);
}
