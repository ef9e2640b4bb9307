// Honest for as many calls as a warm-up has, then does half of the work.
//
// Catalog: A12
// Task: double
// Expect: any mismatch|output_not_written|timed_output_wrong|unsynchronised_work
static int calls;
extern "C" void solve(const float* x, float* y, int n) {
  const int todo = ++calls > 20 ? n / 2 : n;
  for (int i = 0; i < todo; ++i) y[i] = 2 * x[i];
}
