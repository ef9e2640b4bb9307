// Computes an element-wise float32 task in half precision.
//
// Catalog: D1
// Task: double
// Expect: check mismatch
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = static_cast<float>(static_cast<_Float16>(2 * x[i]));
}
