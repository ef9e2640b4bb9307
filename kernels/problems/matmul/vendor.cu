// The vendor's library on the same matrices. Its matrices are column-major, so c' = b' a'.
#include <cublas_v2.h>

extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  static cublasHandle_t handle = nullptr;
  if (!handle) cublasCreate(&handle);
  const float one = 1, nothing = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &nothing, c, n);
}
