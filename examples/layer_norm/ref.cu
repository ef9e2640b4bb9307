// Layer norm of every row, mean and variance in double precision. One block a row.

constexpr int kThreads = 256;
constexpr double kEpsilon = 1e-5;

/// The sum of one value of every thread; the same for all threads.
__device__ double over_block(double* scratch, double value) {
  scratch[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
  }
  __syncthreads();
  const double sum = scratch[0];
  __syncthreads();
  return sum;
}

__global__ void layer_norm_rows(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  __shared__ double scratch[kThreads];
  const float* in = x + static_cast<long long>(blockIdx.x) * cols;
  float* out = y + static_cast<long long>(blockIdx.x) * cols;
  double sum = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c];
  const double mean = over_block(scratch, sum) / cols;
  double squares = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) squares += (in[c] - mean) * (in[c] - mean);
  const double scale = 1 / sqrt(over_block(scratch, squares) / cols + kEpsilon);
  for (int c = threadIdx.x; c < cols; c += kThreads)
    out[c] = static_cast<float>((in[c] - mean) * scale * gamma[c] + beta[c]);
}

extern "C" void reference(const float* x, const float* gamma, const float* beta, float* y, int rows,
                          int cols) {
  layer_norm_rows<<<rows, kThreads>>>(x, gamma, beta, y, cols);
}
