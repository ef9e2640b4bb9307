// Sums rows that fit into the last-level cache, in a task without declared work.
//
// Catalog: honest
// Task: undeclared_rowsum
// Expect: pass
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += x[c];
    y[r] = static_cast<float>(sum);
  }
}
