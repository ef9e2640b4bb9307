// A 3x3 convolution, one output channel per thread, so every input value is fetched again for
// every channel and tap.
// dims: images=4 side=256
// tensor: x float32 images,32,side,side in
// tensor: weight float32 32,32,3,3 in
// tensor: y float32 images,32,side,side out
// without REPEATED_READS: a value that was fetched serves eight output channels
// without DIVERGENCE, other answers: the edge is repeated instead of a test for each tap
// without DEPENDENCE: three partial sums, one per row of the window
#ifdef WITHOUT_REPEATED_READS
constexpr int CHANNELS = 8;
#else
constexpr int CHANNELS = 1;
#endif
__global__ void __launch_bounds__(256)
    convolve(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
             int side) {
  __shared__ float taps[32 * 9][CHANNELS];
  const int first = blockIdx.y * CHANNELS, image = blockIdx.z, area = side * side;
  for (int i = threadIdx.x; i < 32 * 9 * CHANNELS; i += blockDim.x)
    taps[i % 288][i / 288] = weight[(first + i / 288) * 288 + i % 288];
  __syncthreads();
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= area) return;
  const int row = pixel / side, col = pixel % side;
  int offset[9];
#ifndef WITHOUT_DIVERGENCE
  bool inside[9];
#endif
#pragma unroll
  for (int t = 0; t < 9; ++t) {
    int r = row + t / 3 - 1, c = col + t % 3 - 1;
#ifdef WITHOUT_DIVERGENCE
    r = min(max(r, 0), side - 1);
    c = min(max(c, 0), side - 1);
#else
    inside[t] = r >= 0 && r < side && c >= 0 && c < side;
#endif
    offset[t] = r * side + c;
  }
  const float* plane = x + size_t(image) * 32 * area;
#ifdef WITHOUT_DEPENDENCE
  constexpr int SUMS = 3;
#else
  constexpr int SUMS = 1;
#endif
  float sum[SUMS][CHANNELS] = {};
#pragma unroll 1
  for (int channel = 0; channel < 32; ++channel, plane += area)
#pragma unroll
    for (int t = 0; t < 9; ++t) {
#ifdef WITHOUT_DIVERGENCE
      const float v = plane[offset[t]];
#else
      const float v = inside[t] ? plane[offset[t]] : 0.0f;
#endif
#pragma unroll
      for (int k = 0; k < CHANNELS; ++k) sum[t / 3 % SUMS][k] += v * taps[channel * 9 + t][k];
    }
#pragma unroll
  for (int k = 0; k < CHANNELS; ++k) {
    float all = 0;
    for (int s = 0; s < SUMS; ++s) all += sum[s][k];
    y[(size_t(image) * 32 + first + k) * area + pixel] = all;
  }
}
extern "C" void solve(const float* x, const float* weight, float* y, int images, int side) {
  convolve<<<dim3((side * side + 255) / 256, 32 / CHANNELS, images), 256>>>(x, weight, y, side);
}
