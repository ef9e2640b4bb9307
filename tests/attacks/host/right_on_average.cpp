// Gets the sum of all outputs right but every single output wrong.
//
// Catalog: C6
// Task: rowsum
// Expect: check mismatch
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  float all = 0;
  for (int i = 0; i < rows * cols; ++i) all += x[i];
  for (int r = 0; r < rows; ++r) y[r] = all / rows;
}
