// Reads a table of 64 MB at random places.
// dims: n=16777216
// tensor: x float32 n in
// tensor: place int32 n in permutation
// tensor: y float32 n out
// without RANDOM_ACCESS, other answers: in order
__global__ void take(const float* x, const int* place, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_RANDOM_ACCESS
  y[i] = x[i] + place[i];
#else
  y[i] = x[place[i]];
#endif
}
extern "C" void solve(const float* x, const int* place, float* y, int n) {
  take<<<(n + 255) / 256, 256>>>(x, place, y, n);
}
