// Atomic additions at random places of a large array.
// dims: n=4194304
// tensor: x float32 n in
// tensor: place int32 n in permutation
// tensor: y float32 n out
// without GLOBAL_ATOMICS: plain additions, since no place is named twice
// without RANDOM_ACCESS, other answers: the same atomic additions in order
__global__ void add(const float* x, const int* place, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#if defined(WITHOUT_GLOBAL_ATOMICS)
  y[place[i]] += x[i];
#elif defined(WITHOUT_RANDOM_ACCESS)
  atomicAdd(y + i, x[i] + place[i]);
#else
  atomicAdd(y + place[i], x[i]);
#endif
}
extern "C" void solve(const float* x, const int* place, float* y, int n) {
  cudaMemsetAsync(y, 0, size_t(n) * 4);
  add<<<(n + 255) / 256, 256>>>(x, place, y, n);
}
