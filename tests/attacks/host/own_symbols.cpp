// Defines functions of the C library that a comparison might use.
//
// Catalog: A9 E2 E4
// Task: double
// Expect: check mismatch
extern "C" int memcmp(const void*, const void*, unsigned long) {
  return 0;
}
extern "C" double fabs(double) {
  return 0;
}
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i];
}
