// One operation on a thousand elements: what takes time is that a kernel starts at all.
// dims: n=1024
// tensor: x float32 n in
// tensor: y float32 n out
// floor LAUNCHES, other answers: a kernel that does nothing
__global__ void twice(const float* x, float* y, int n) {
#ifndef WITHOUT_LAUNCHES
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
#endif
}
extern "C" void solve(const float* x, float* y, int n) {
  twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
