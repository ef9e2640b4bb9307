// The k largest of every row as it is first written: one block a row, k rounds, each a search for
// the largest element that comes after the one found before. Equal elements come in order of their
// index.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;

/// Whether (value, index) comes before (than, at) in the answer.
__device__ bool before(float value, int index, float than, int at) {
  return value > than || (value == than && index < at);
}

__global__ void top_k(const float* x, float* values, int* indices, int cols, int k) {
  __shared__ float best_value[kThreads];
  __shared__ int best_index[kThreads];
  const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
  const int t = threadIdx.x;
  float last_value = 0;
  int last = -1;
  for (int round = 0; round < k; ++round) {
    float value = 0;
    int index = -1;
    for (int c = t; c < cols; c += kThreads) {
      const bool left = last < 0 || before(last_value, last, row[c], c);
      if (left && (index < 0 || before(row[c], c, value, index))) {
        value = row[c];
        index = c;
      }
    }
    best_value[t] = value;
    best_index[t] = index;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (t < half && best_index[t + half] >= 0 &&
          (best_index[t] < 0 ||
           before(best_value[t + half], best_index[t + half], best_value[t], best_index[t]))) {
        best_value[t] = best_value[t + half];
        best_index[t] = best_index[t + half];
      }
      __syncthreads();
    }
    last_value = best_value[0];
    last = best_index[0];
    if (t == 0) {
      values[static_cast<int64_t>(blockIdx.x) * k + round] = last_value;
      indices[static_cast<int64_t>(blockIdx.x) * k + round] = last;
    }
    __syncthreads();
  }
}

}  // namespace

extern "C" void solve(const float* x, float* values, int* indices, int rows, int cols, int k) {
  top_k<<<rows, kThreads>>>(x, values, indices, cols, k);
}
