// Includes a file of the server's user, so that compiler messages reveal its content.
//
// Catalog: E12
// Task: double
// Expect: build Permission|name
#include "/etc/passwd"
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
