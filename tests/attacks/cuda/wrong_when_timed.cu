// Recognizes timed calls by their repeated addresses and computes an approximation there.
//
// Catalog: A12 A13
// Task: double
// Expect: any mismatch|timed_output_wrong
__global__ void scale(const float* x, float* y, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  static const float* last[8];
  static int calls;
  int often = 0;
  for (const float* one : last) often += one == x;
  last[calls++ % 8] = x;
  scale<<<(n + 255) / 256, 256>>>(x, y, n, calls > 80 && often ? 1.9f : 2.0f);
}
