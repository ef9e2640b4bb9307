// Launches nothing: an output buffer that holds an old answer would pass.
//
// Catalog: B10
// Task: double
// Expect: check output_not_written
extern "C" void solve(const float* x, float* y, int n) {
  (void)x;
  (void)y;
  (void)n;
}
