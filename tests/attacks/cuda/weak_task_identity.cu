// Returns its input where the task is nearly the identity.
//
// Catalog: C4
// Task: near
// Expect: admit weak_task_identity
extern "C" void solve(const float* x, float* y, int n) {
  cudaMemcpyAsync(y, x, sizeof(float) * n, cudaMemcpyDeviceToDevice, nullptr);
}
