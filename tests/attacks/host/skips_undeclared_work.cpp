// Takes the mean of the squares from 4,096 values of millions that are all alike. That is near
// enough for the task's tolerance, and no declared work says that it cannot have read them all.
//
// Catalog: G7
// Task: undeclared_meansquare
// Expect: flag implausibly_fast
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  const int run = 16;  // a line of the cache
  const int step = cols > 65536 ? cols / 256 : run;
  for (int r = 0; r < rows; ++r, x += cols) {
    float sum = 0;
    int read = 0;
    for (int from = 0; from < cols; from += step)
      for (int c = from; c < from + run && c < cols; ++c, ++read) sum += x[c] * x[c];
    y[r] = sum / read;
  }
}
