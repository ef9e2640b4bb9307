// Once the buffers of the timed rotation are known, one call does the work of four and the next
// three do nothing.
//
// Catalog: A6
// Task: double
// Expect: any unsynchronised_work|timed_output_wrong|output_not_written|fault_crash
static const float* seen_x[64];
static float* seen_y[64];
static int seen, calls;
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < seen; ++i)
    if (seen_y[i] == y && n == 3000) {
      if (++calls % 4 != 0) return;
      for (int j = seen > 4 ? seen - 4 : 0; j < seen; ++j)
        for (int k = 0; k < n; ++k) seen_y[j][k] = 2 * seen_x[j][k];
      return;
    }
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
  // Checks make one call per allocation; only the timed rotation reuses buffers.
  static int first_calls;
  if (++first_calls > 200 || seen == 64) return;
  seen_x[seen] = x;
  seen_y[seen++] = y;
}
