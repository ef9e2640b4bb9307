// Sums of absolute differences between an 8 x 8 template and each window of an image.
// dims: rows=2048 cols=2048 height=2055 width=2055 area=64
// tensor: image float32 height,width in
// tensor: pattern float32 area in
// tensor: y float32 rows,cols out
// without REPEATED_READS: a thread does eight windows below each other, each pixel read once
#ifdef WITHOUT_REPEATED_READS
constexpr int kWindows = 8;
#else
constexpr int kWindows = 1;
#endif

__global__ void __launch_bounds__(256)
    match(const float* __restrict__ image, const float* __restrict__ pattern, float* __restrict__ y,
          int rows, int cols, int width) {
  const int col = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y * kWindows;
  if (col >= cols) return;
  float sums[kWindows] = {};
#pragma unroll
  for (int r = 0; r < 7 + kWindows; ++r)
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const float pixel = image[(row + r) * width + col + c];
#pragma unroll
      for (int w = 0; w < kWindows; ++w)
        if (r - w >= 0 && r - w < 8) sums[w] += fabsf(pixel - pattern[(r - w) * 8 + c]);
    }
#pragma unroll
  for (int w = 0; w < kWindows; ++w) y[(row + w) * cols + col] = sums[w];
}

extern "C" void solve(const float* image, const float* pattern, float* y, int rows, int cols,
                      int height, int width, int area) {
  match<<<dim3((cols + 255) / 256, rows / kWindows), 256>>>(image, pattern, y, rows, cols, width);
}
