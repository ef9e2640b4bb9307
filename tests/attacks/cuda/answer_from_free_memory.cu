// Looks for the reference's answer in freshly allocated memory.
//
// Catalog: B7
// Task: double
// Expect: check mismatch
__global__ void search(const float* pool, long long words, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float found = 0;
  for (long long block = 0; block + n <= words && found == 0; block += 128 * 1024)
    if (pool[block + i] == 2 * x[i]) found = pool[block + i];
  y[i] = found;
}
extern "C" void solve(const float* x, float* y, int n) {
  static float* pool;
  constexpr long long words = 1ll << 28;
  if (!pool) cudaMalloc(&pool, sizeof(float) * words);
  search<<<(n + 255) / 256, 256>>>(pool, words, x, y, n);
}
