// Recognizes timed calls by their repeated addresses and computes an approximation there.
//
// Catalog: A12 A13
// Task: double
// Expect: any mismatch|timed_output_wrong
static const float* seen[256];
static int count;
extern "C" void solve(const float* x, float* y, int n) {
  int often = 0;
  for (int i = 0; i < count; ++i) often += seen[i] == x;
  if (count < 256) seen[count++] = x;
  const float factor = often > 3 ? 1.9f : 2.0f;
  for (int i = 0; i < n; ++i) y[i] = factor * x[i];
}
