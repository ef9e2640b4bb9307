// Computes the first half of the rows.
//
// Catalog: C5
// Task: softmax
// Expect: check output_not_written
__device__ float whole(float* scratch, float value, bool largest) {
  scratch[threadIdx.x] = value;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    const float other = scratch[threadIdx.x + half];
    scratch[threadIdx.x] =
        largest ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
  }
  __syncthreads();
  const float result = scratch[0];
  __syncthreads();
  return result;
}
__global__ void softmax(const float* x, float* y, int cols, bool safe) {
  __shared__ float scratch[256];
  x += static_cast<long long>(blockIdx.x) * cols;
  y += static_cast<long long>(blockIdx.x) * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 256) top = fmaxf(top, x[c]);
  top = safe ? whole(scratch, top, true) : 0;
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(x[c] - top);
  sum = whole(scratch, sum, false);
  for (int c = threadIdx.x; c < cols; c += 256) y[c] = expf(x[c] - top) / sum;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  softmax<<<rows / 2, 256>>>(x, y, cols, true);
}
