// Composites an RGBA image over another one, rounding to the nearest byte.
// dims: n=33554432
// tensor: front uint8 n in
// tensor: back uint8 n in
// tensor: y uint8 n out
// without NARROW_ACCESS: a thread takes four pixels with one load of 16 bytes
// without INTEGER_DIVISION: divides by 255 with two shifts
using Byte = unsigned char;

__device__ unsigned blend(unsigned front, unsigned back, unsigned alpha) {
#ifdef WITHOUT_INTEGER_DIVISION
  const unsigned t = front * alpha + back * (255 - alpha) + 128;
  return (t + (t >> 8)) >> 8;
#else
  return (front * alpha + back * (255 - alpha) + 127) / 255;
#endif
}

#ifdef WITHOUT_NARROW_ACCESS
__device__ unsigned blend_pixel(unsigned front, unsigned back) {
  const unsigned alpha = front >> 24;
  unsigned pixel = 0;
#pragma unroll
  for (int shift = 0; shift < 32; shift += 8)
    pixel |= blend(front >> shift & 255, back >> shift & 255, alpha) << shift;
  return pixel;
}

__global__ void composite(const uint4* front, const uint4* back, uint4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 16) return;
  const uint4 f = front[i], b = back[i];
  y[i] = make_uint4(blend_pixel(f.x, b.x), blend_pixel(f.y, b.y), blend_pixel(f.z, b.z),
                    blend_pixel(f.w, b.w));
}
#else
__global__ void composite(const Byte* front, const Byte* back, Byte* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = blend(front[i], back[i], front[i | 3]);
}
#endif

extern "C" void solve(const Byte* front, const Byte* back, Byte* y, int n) {
#ifdef WITHOUT_NARROW_ACCESS
  composite<<<(n / 16 + 255) / 256, 256>>>(reinterpret_cast<const uint4*>(front),
                                           reinterpret_cast<const uint4*>(back),
                                           reinterpret_cast<uint4*>(y), n);
#else
  composite<<<(n + 255) / 256, 256>>>(front, back, y, n);
#endif
}
