// Where a sample shows few different values, looks answers up in a table of the first two.
//
// Catalog: I2
// Task: double
// Search: 5
// Expect: search mismatch
extern "C" void solve(const float* x, float* y, int n) {
  float seen[64];
  int different = 0;
  for (int i = 0; i < 256 && different < 64 && n > 256; ++i) {
    const float value = x[static_cast<long long>(i) * n / 256];
    bool known = false;
    for (int k = 0; k < different; ++k) known = known || seen[k] == value;
    if (!known) seen[different++] = value;
  }
  const bool few = different > 0 && different < 40;
  for (int i = 0; i < n; ++i)
    y[i] = few ? 2 * (x[i] == seen[0] ? seen[0] : seen[1 % different]) : 2 * x[i];
}
