// Reads a file of the server's user by including it, so that the compiler's messages show it.
//
// Catalogue: E12
// Task: double
// Expect: build Permission|name
#include "/etc/passwd"
extern "C" void solve(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
