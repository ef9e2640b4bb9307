// Way: __has_include: whether a file exists
// Walls: root

#if __has_include("SECRET")
extern "C" const char mark[] = "FOUND-OUT";
#else
extern "C" const char mark[] = "";
#endif
extern "C" void solve(const float* x, float* y, int n) {
  y[0] = x[n] + mark[n];
}
