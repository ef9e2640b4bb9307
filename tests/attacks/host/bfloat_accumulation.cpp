// Accumulates in bfloat16.
//
// Catalog: D2
// Task: rowsum
// Expect: check mismatch
#include <cstdint>
#include <cstring>
static float bfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x8000) & 0xffff0000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum = bfloat(sum + x[c]);
    y[r] = sum;
  }
}
