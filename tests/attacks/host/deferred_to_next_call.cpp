// Computes the answer of the previous call, after its time was taken.
//
// Catalog: A5 B12
// Task: double
// Expect: check output_not_written
static const float* last_x;
static float* last_y;
static int last_n;
extern "C" void solve(const float* x, float* y, int n) {
  // The buffers of the previous call may be gone, so only small sizes are tried.
  if (last_y == y)
    for (int i = 0; i < last_n && i < n; ++i) last_y[i] = 2 * last_x[i];
  last_x = x;
  last_y = y;
  last_n = n;
}
