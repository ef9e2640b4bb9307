// Row softmax, accumulated in double precision. One block per row.

constexpr int kThreads = 256;

/// The maximum or the sum of one value per thread, returned to all threads.
__device__ double over_block(double* scratch, double value, bool largest) {
  scratch[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    const double other = scratch[threadIdx.x + half];
    double& mine = scratch[threadIdx.x];
    mine = largest ? fmax(mine, other) : mine + other;
  }
  __syncthreads();
  const double result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax_rows(const float* x, float* y, int cols) {
  __shared__ double scratch[kThreads];
  const float* in = x + static_cast<long long>(blockIdx.x) * cols;
  float* out = y + static_cast<long long>(blockIdx.x) * cols;
  double top = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += kThreads) top = fmax(top, static_cast<double>(in[c]));
  top = over_block(scratch, top, true);
  double sum = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += exp(in[c] - top);
  sum = over_block(scratch, sum, false);
  for (int c = threadIdx.x; c < cols; c += kThreads)
    out[c] = static_cast<float>(exp(in[c] - top) / sum);
}

extern "C" void reference(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols);
}
