// Returns zeros where the absolute tolerance accepts them: the task is reported as weak before
// any kernel runs.
//
// Catalog: C1 D6
// Task: loose_softmax
// Expect: admit weak_task_zero
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  (void)x;
  for (int i = 0; i < rows * cols; ++i) y[i] = 0;
}
