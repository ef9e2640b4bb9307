// Honest for as many calls as a check and a warm-up take, then does half of the work.
//
// Catalogue: A12
// Task: double
// Expect: profile unsynchronised_work|timed_output_wrong
static int calls;
extern "C" void solve(const float* x, float* y, int n) {
  const int todo = ++calls > 60 ? n / 2 : n;
  for (int i = 0; i < todo; ++i) y[i] = 2 * x[i];
}
