// Sums in a different order from the reference, with eight partial sums.
//
// Catalog: honest
// Task: rowsum
// Expect: pass
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols) {
    float sums[8] = {};
    for (int c = 0; c < cols; ++c) sums[c % 8] += x[c];
    y[r] =
        ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
}
