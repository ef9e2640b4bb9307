// Returns its input where the task is nearly the identity.
//
// Catalog: C4
// Task: near
// Expect: admit weak_task_identity
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i];
}
