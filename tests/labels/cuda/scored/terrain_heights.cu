// Heights of a made-up terrain: six octaves of gradient noise, the gradients from a hash of the
// corners of each cell.
// dims: side=3072
// tensor: seed int32 4 in
// tensor: height float32 side,side out
// without ARITHMETIC, other answers: only one octave
// without SPECIAL_FUNCTIONS, other answers: the ridges are not sharpened by roots
// without INTEGER_DIVISION: the place comes from a two-dimensional grid
__device__ __forceinline__ float corner(int x, int y, unsigned seed, float dx, float dy) {
  unsigned h = unsigned(x) * 0x8da6b343u ^ unsigned(y) * 0xd8163841u ^ seed;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  h ^= h >> 15;
  const float gx = float(int(h << 16) >> 16) * 3.0517578e-5f;
  const float gy = float(int(h) >> 16) * 3.0517578e-5f;
  return gx * dx + gy * dy;
}
__global__ void __launch_bounds__(256)
    heights(const int* __restrict__ seed, float* __restrict__ height, int side) {
#ifdef WITHOUT_INTEGER_DIVISION
  const int px = blockIdx.x * 256 + threadIdx.x, py = blockIdx.y, i = py * side + px;
  if (px >= side) return;
#else
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= side * side) return;
  const int px = i % side, py = i / side;
#endif
#ifdef WITHOUT_ARITHMETIC
  constexpr int kOctaves = 1;
#else
  constexpr int kOctaves = 6;
#endif
  const unsigned first = seed[0];
  float sum = 0, scale = 1.0f / 256, weight = 1;
#pragma unroll
  for (int octave = 0; octave < kOctaves; ++octave) {
    const float x = px * scale, y = py * scale;
    const int cx = int(x), cy = int(y);
    const float dx = x - float(cx), dy = y - float(cy);
    const unsigned of = first + 0x9e3779b9u * octave;
    const float a = corner(cx, cy, of, dx, dy), b = corner(cx + 1, cy, of, dx - 1, dy);
    const float c = corner(cx, cy + 1, of, dx, dy - 1);
    const float d = corner(cx + 1, cy + 1, of, dx - 1, dy - 1);
    const float u = dx * dx * dx * (dx * (dx * 6 - 15) + 10);
    const float v = dy * dy * dy * (dy * (dy * 6 - 15) + 10);
    const float top = a + u * (b - a), bottom = c + u * (d - c);
    const float noise = top + v * (bottom - top);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    sum += weight * (1 - fabsf(noise));
#else
    sum += weight * (1 - __fsqrt_rn(fabsf(noise) + 1e-3f));
#endif
    scale *= 2;
    weight *= 0.5f;
  }
  height[i] = sum;
}
extern "C" void solve(const int* seed, float* height, int side) {
#ifdef WITHOUT_INTEGER_DIVISION
  heights<<<dim3((side + 255) / 256, side), 256>>>(seed, height, side);
#else
  heights<<<(side * side + 255) / 256, 256>>>(seed, height, side);
#endif
}
