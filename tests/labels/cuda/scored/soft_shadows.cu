// Soft shadows by random samples of a lamp: tiles of 16 x 16 pixels take 64 samples per pixel, but
// the sixteen tiles of the penumbra, the last ones, 8192.
// dims: tiles=2048
// tensor: depth float32 tiles*256 in
// tensor: light float32 tiles*256 out
// without IMBALANCE, other answers: every tile takes the mean number of samples
// without SPECIAL_FUNCTIONS, other answers: distances are taken without a root
// without ARITHMETIC, other answers: the samples lie on a grid instead of being hashed
__global__ void __launch_bounds__(256)
    shade(const float* __restrict__ depth, float* __restrict__ light, int tiles) {
  const int tile = blockIdx.x, i = tile * 256 + threadIdx.x;
#ifdef WITHOUT_IMBALANCE
  const int samples = ((tiles - 16) * 64 + 16 * 8192) / tiles;
#else
  const int samples = tile >= tiles - 16 ? 8192 : 64;
#endif
  const float away = 1.0f + fminf(fabsf(depth[i]), 4.0f);
  const float px = (threadIdx.x % 16) * 0.06f - 0.5f, py = (threadIdx.x / 16) * 0.06f - 0.5f;
  float sum = 0;
#pragma unroll 2
  for (int s = 0; s < samples; ++s) {
#ifdef WITHOUT_ARITHMETIC
    const unsigned h = unsigned(s) << 10;
#else
    unsigned h = (unsigned(s) * 0x9e3779b9u ^ unsigned(i)) * 0x85ebca6bu;
    h = (h ^ h >> 15) * 0xc2b2ae35u;
    h ^= h >> 13;
#endif
    const float lx = float(int(h << 16) >> 16) * 1.5e-5f - px;
    const float ly = float(int(h) >> 16) * 1.5e-5f - py;
    const float square = lx * lx + ly * ly + away * away;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float nearness = 1.0f - 0.02f * square;
#else
    const float nearness = rsqrtf(square);
#endif
    const float miss = lx * lx * 1.3f + ly * ly * 0.7f;
    sum += miss > 0.2f ? away * nearness * nearness : 0.0f;
  }
  light[i] = sum / samples;
}
extern "C" void solve(const float* depth, float* light, int tiles) {
  shade<<<tiles, 256>>>(depth, light, tiles);
}
