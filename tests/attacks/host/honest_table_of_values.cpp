// Looks repeated values up in a table of four, and computes those that are not in it.
//
// Catalog: honest
// Task: double
// Search: 5
// Expect: pass
extern "C" void solve(const float* x, float* y, int n) {
  float key[4] = {0, 0, 0, 0}, answer[4] = {0, 0, 0, 0};
  for (int i = 0; i < n; ++i) {
    int place = 0;
    while (place < 4 && key[place] != x[i]) ++place;
    if (place == 4) {
      place = i % 4;
      key[place] = x[i];
      answer[place] = 2 * x[i];
    }
    y[i] = answer[place];
  }
}
