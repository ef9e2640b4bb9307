// Starts a thread that does the work after the call has returned: the build rejects starting
// threads.
//
// Catalog: A3
// Task: double
// Expect: build thread
#include <thread>
extern "C" void solve(const float* x, float* y, int n) {
  std::thread([=] {
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
  }).detach();
}
