// Calls cuBLAS and declares it.
//
// Catalog: honest
// Task: matmul
// Expect: pass
// Flags: -lcublas
#include <cublas_v2.h>
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  static cublasHandle_t handle;
  if (!handle) cublasCreate(&handle);
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
}
