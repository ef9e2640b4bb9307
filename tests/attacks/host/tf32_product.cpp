// Rounds the operands of a float32 product to the ten bits of TF32.
//
// Catalog: D1
// Task: matmul
// Expect: check mismatch
#include <cstdint>
#include <cstring>
static float tf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000) & 0xffffe000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += tf32(a[i * k + l]) * tf32(b[l * n + j]);
      c[i * n + j] = sum;
    }
}
