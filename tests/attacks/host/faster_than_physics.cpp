// Honest, but the work declared for its task would take longer than the kernel does.
//
// Catalog: G7 G6
// Task: overdeclared
// Expect: profile faster_than_physics
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
