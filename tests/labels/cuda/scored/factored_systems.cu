// Cholesky factors of many 10x10 matrices, a thread each; the loops are not unrolled, so the
// matrix is in local memory.
// dims: batch=131072
// tensor: a float32 100,batch in
// tensor: factor float32 100,batch out
// without LOCAL_MEMORY: the loops are unrolled, so the matrix is in registers
// without SPECIAL_FUNCTIONS, other answers: the pivots are not rooted
// without DIVERGENCE, other answers: small pivots are not replaced
#ifdef WITHOUT_LOCAL_MEMORY
#define LOOP _Pragma("unroll")
#else
#define LOOP _Pragma("unroll 1")
#endif
constexpr int N = 10;
__global__ void __launch_bounds__(128)
    cholesky(const float* __restrict__ a, float* __restrict__ factor, int batch) {
  const int b = blockIdx.x * 128 + threadIdx.x;
  if (b >= batch) return;
  float m[N][N];
  LOOP for (int i = 0; i < N; ++i) {
    LOOP for (int j = 0; j < N; ++j) {
      const float v = fminf(1.0f, fmaxf(-1.0f, a[size_t(i * N + j) * batch + b]));
      m[i][j] = i == j ? fabsf(v) + 12.0f : v;
    }
  }
  LOOP for (int k = 0; k < N; ++k) {
    float pivot = m[k][k];
#ifndef WITHOUT_DIVERGENCE
    if (pivot < 1e-3f) pivot = 1e-3f;
#endif
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float inverse = 0.25f + 0.001f * pivot;
#else
    const float inverse = rsqrtf(pivot);
#endif
    LOOP for (int i = k; i < N; ++i) m[i][k] *= inverse;
    LOOP for (int j = k + 1; j < N; ++j) {
      LOOP for (int i = j; i < N; ++i) m[i][j] -= m[i][k] * m[j][k];
    }
  }
  LOOP for (int i = 0; i < N; ++i) {
    LOOP for (int j = 0; j < N; ++j) factor[size_t(i * N + j) * batch + b] = m[i][j];
  }
}
extern "C" void solve(const float* a, float* factor, int batch) {
  cholesky<<<(batch + 127) / 128, 128>>>(a, factor, batch);
}
