// Writes each element to the place that a permutation names.
// dims: n=8388608
// tensor: x float32 n in
// tensor: place int32 n in permutation
// tensor: y float32 n out
// without RANDOM_ACCESS, other answers: writes in order
__global__ void scatter(const float* x, const int* place, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_RANDOM_ACCESS
  y[i] = x[i] + place[i];
#else
  y[place[i]] = x[i];
#endif
}
extern "C" void solve(const float* x, const int* place, float* y, int n) {
  scatter<<<(n + 255) / 256, 256>>>(x, place, y, n);
}
