// Defines its own clock functions so that the timer might call them. The timer does not: the
// measured time is the real 2 ms.
//
// Catalog: A9 A10
// Task: double
// Expect: time 1e6
#include <time.h>
#include <x86intrin.h>
extern "C" int clock_gettime(clockid_t, struct timespec* now) noexcept {
  now->tv_sec = 1;
  now->tv_nsec = 0;
  return 0;
}
extern "C" void solve(const float* x, float* y, int n) {
  const unsigned long long start = __rdtsc();
  while (__rdtsc() - start < 6'000'000) {  // more than 1 ms below 6 GHz
  }
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
