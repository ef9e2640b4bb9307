// Turns a color image of three bytes per pixel into a gray one; a thread has a pixel and so fetches
// single bytes.
// dims: pixels=33554432
// tensor: color uint8 pixels*3 in
// tensor: gray uint8 pixels out
// without NARROW_ACCESS: a thread has sixteen pixels, three loads and a store of 16 bytes
// without ARITHMETIC, other answers: the gray is the exclusive or of the colors
// without DIVERGENCE: the highlights are clipped by a choice instead of a branch
__device__ __forceinline__ unsigned gray_level(unsigned red, unsigned green, unsigned blue) {
#ifdef WITHOUT_ARITHMETIC
  return (red ^ green ^ blue) & 255;
#else
  unsigned level = (77 * red + 150 * green + 29 * blue + 128) >> 8;
#ifdef WITHOUT_DIVERGENCE
  level = level > 235 ? 235 : level;
#else
  if (level > 235) level = 235;
#endif
  return level;
#endif
}
__global__ void __launch_bounds__(256)
    to_gray(const unsigned char* __restrict__ color, unsigned char* __restrict__ gray, int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_NARROW_ACCESS
  if (i >= pixels / 16) return;
  unsigned words[12], out[4] = {0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const uint4 four = reinterpret_cast<const uint4*>(color)[size_t(i) * 3 + k];
    words[4 * k] = four.x;
    words[4 * k + 1] = four.y;
    words[4 * k + 2] = four.z;
    words[4 * k + 3] = four.w;
  }
#pragma unroll
  for (int p = 0; p < 16; ++p) {
    unsigned part[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const int byte = 3 * p + c;
      part[c] = words[byte / 4] >> 8 * (byte % 4) & 255;
    }
    out[p / 4] |= gray_level(part[0], part[1], part[2]) << 8 * (p % 4);
  }
  reinterpret_cast<uint4*>(gray)[i] = make_uint4(out[0], out[1], out[2], out[3]);
#else
  if (i >= pixels) return;
  const unsigned char* of = color + size_t(i) * 3;
  gray[i] = static_cast<unsigned char>(gray_level(of[0], of[1], of[2]));
#endif
}
extern "C" void solve(const unsigned char* color, unsigned char* gray, int pixels) {
#ifdef WITHOUT_NARROW_ACCESS
  const int threads = pixels / 16;
#else
  const int threads = pixels;
#endif
  to_gray<<<(threads + 255) / 256, 256>>>(color, gray, pixels);
}
