// Takes the mean of the squares from 4,096 values of millions that are all alike. That is near
// enough for the task's tolerance, and no declared work says that it cannot have read them all.
//
// Catalog: G7
// Task: undeclared_meansquare
// Expect: flag implausibly_fast
__global__ void sampled(const float* x, float* y, int cols) {
  const int lanes = 16;  // of a run
  const int step = cols > 65536 ? cols / 256 : lanes;
  x += static_cast<long long>(blockIdx.x) * cols;
  __shared__ float sums[256];
  __shared__ int counts[256];
  float sum = 0;
  int read = 0;
  for (long long from = threadIdx.x / lanes * static_cast<long long>(step); from < cols;
       from += 256 / lanes * static_cast<long long>(step)) {
    const long long c = from + threadIdx.x % lanes;
    if (c >= cols) continue;
    sum += x[c] * x[c];
    ++read;
  }
  sums[threadIdx.x] = sum;
  counts[threadIdx.x] = read;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    sums[threadIdx.x] += sums[threadIdx.x + half];
    counts[threadIdx.x] += counts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0] / counts[0];
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  sampled<<<rows, 256>>>(x, y, cols);
}
