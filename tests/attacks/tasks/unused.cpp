extern "C" void reference(const float* x, const float* weights, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 0 * (weights[i] > 1e30f);
}
