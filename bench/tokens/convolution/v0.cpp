// Every neighbor is asked whether it exists.
extern "C" void solve(const float* x, const float* f, float* y, int h, int w) {
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) {
      float sum = 0;
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) {
          if (r + i < 0 || r + i >= h || c + j < 0 || c + j >= w) continue;
          sum += f[(i + 1) * 3 + j + 1] * x[static_cast<long long>(r + i) * w + c + j];
        }
      y[static_cast<long long>(r) * w + c] = sum;
    }
}
