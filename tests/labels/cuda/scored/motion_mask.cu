// Motion mask of a surveillance camera: a pixel moves if it differs from the last frame and from
// the background by more than a threshold that grows with its brightness.
// dims: pixels=33554432
// tensor: now uint8 pixels in
// tensor: before uint8 pixels in
// tensor: background uint8 pixels in
// tensor: mask uint8 pixels out
// without NARROW_ACCESS: a thread has sixteen pixels, three loads and a store of 16 bytes
// without ARITHMETIC, other answers: the mask is the exclusive or of the three images
// without DIVERGENCE: dark pixels are sorted out by a choice instead of a branch
__device__ __forceinline__ unsigned moved(unsigned now, unsigned before, unsigned background) {
#ifdef WITHOUT_ARITHMETIC
  return now ^ before ^ background;
#else
  const int step = abs(int(now) - int(before)), away = abs(int(now) - int(background));
  const int threshold = 12 + (int(background) * 5 >> 5);
  unsigned level = min(step, away) > threshold ? 128u + min(127, step + away - threshold) : 0u;
#ifdef WITHOUT_DIVERGENCE
  level = now < 16 ? 0u : level;
#else
  if (now < 16) level = 0;
#endif
  return level & 255;
#endif
}
__global__ void __launch_bounds__(256)
    detect(const unsigned char* __restrict__ now, const unsigned char* __restrict__ before,
           const unsigned char* __restrict__ background, unsigned char* __restrict__ mask,
           int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_NARROW_ACCESS
  if (i >= pixels / 16) return;
  union Sixteen {
    uint4 all;
    unsigned char each[16];
  } a, b, c, out;
  a.all = reinterpret_cast<const uint4*>(now)[i];
  b.all = reinterpret_cast<const uint4*>(before)[i];
  c.all = reinterpret_cast<const uint4*>(background)[i];
#pragma unroll
  for (int p = 0; p < 16; ++p)
    out.each[p] = static_cast<unsigned char>(moved(a.each[p], b.each[p], c.each[p]));
  reinterpret_cast<uint4*>(mask)[i] = out.all;
#else
  if (i >= pixels) return;
  mask[i] = static_cast<unsigned char>(moved(now[i], before[i], background[i]));
#endif
}
extern "C" void solve(const unsigned char* now, const unsigned char* before,
                      const unsigned char* background, unsigned char* mask, int pixels) {
#ifdef WITHOUT_NARROW_ACCESS
  const int threads = pixels / 16;
#else
  const int threads = pixels;
#endif
  detect<<<(threads + 255) / 256, 256>>>(now, before, background, mask, pixels);
}
