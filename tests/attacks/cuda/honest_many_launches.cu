// Sixteen launches, one per slice.
//
// Catalog: honest
// Task: double
// Expect: pass
__global__ void part(const float* x, float* y, int from, int to) {
  const int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < to) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  const int slice = (n + 15) / 16;
  for (int from = 0; from < n; from += slice) {
    const int to = from + slice < n ? from + slice : n;
    part<<<(to - from + 255) / 256, 256>>>(x, y, from, to);
  }
}
