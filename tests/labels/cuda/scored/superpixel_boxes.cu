// Area and bounding box of the bright pixels of each segment of an image; the segmentation assigns
// one of the labels to each tile of 32 x 32 pixels, and a label comes up in tiles all over the
// image.
// dims: height=2048 width=2048 labels=256
// tensor: pixels uint8 height,width in
// tensor: tiles int32 height/32,width/32 in
// tensor: area int32 labels out
// tensor: left int32 labels out
// tensor: right int32 labels out
// tensor: top int32 labels out
// tensor: bottom int32 labels out
// without GLOBAL_ATOMICS: the block of a tile combines its pixels, then updates the label once
// without NARROW_ACCESS: a thread reads its four pixels as one word
// without DIVERGENCE: dark pixels update as well, with values that change nothing
#include <climits>
__global__ void __launch_bounds__(256)
    find_boxes(const unsigned char* __restrict__ pixels, const int* __restrict__ tiles, int* area,
               int* left, int* right, int* top, int* bottom, int width, int labels) {
  const int tx = threadIdx.x, ty = threadIdx.y;
#ifdef WITHOUT_NARROW_ACCESS
  const int x0 = blockIdx.x * 32 + tx % 8 * 4, y0 = blockIdx.y * 32 + ty * 4 + tx / 8, dx = 1,
            dy = 0;
  const uchar4 word = *reinterpret_cast<const uchar4*>(pixels + size_t(y0) * width + x0);
  const unsigned char values[4] = {word.x, word.y, word.z, word.w};
#else
  const int x0 = blockIdx.x * 32 + tx, y0 = blockIdx.y * 32 + ty, dx = 0, dy = 8;
  unsigned char values[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) values[k] = pixels[size_t(y0 + k * dy) * width + x0];
#endif
  const int label = tiles[(y0 / 32) * (width / 32) + x0 / 32] & (labels - 1);
#ifdef WITHOUT_GLOBAL_ATOMICS
  __shared__ int parts[5][8];
  int n = 0, l = INT_MAX, r = 0, t = INT_MAX, b = 0;
#endif
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int x = x0 + k * dx, y = y0 + k * dy;
    const bool bright = values[k] >= 128;
#if defined(WITHOUT_GLOBAL_ATOMICS)
    if (bright) {
      ++n;
      l = min(l, x), r = max(r, x), t = min(t, y), b = max(b, y);
    }
#else
#ifdef WITHOUT_DIVERGENCE
    const int one = bright, x_low = bright ? x : INT_MAX, x_high = bright ? x : 0,
              y_low = bright ? y : INT_MAX, y_high = bright ? y : 0;
#else
    if (!bright) continue;
    const int one = 1, x_low = x, x_high = x, y_low = y, y_high = y;
#endif
    atomicAdd(area + label, one);
    atomicMin(left + label, x_low);
    atomicMax(right + label, x_high);
    atomicMin(top + label, y_low);
    atomicMax(bottom + label, y_high);
#endif
  }
#ifdef WITHOUT_GLOBAL_ATOMICS
  n = __reduce_add_sync(~0u, n);
  l = __reduce_min_sync(~0u, l), r = __reduce_max_sync(~0u, r);
  t = __reduce_min_sync(~0u, t), b = __reduce_max_sync(~0u, b);
  if (tx == 0)
    parts[0][ty] = n, parts[1][ty] = l, parts[2][ty] = r, parts[3][ty] = t, parts[4][ty] = b;
  __syncthreads();
  if (tx || ty) return;
  for (int k = 1; k < 8; ++k) {
    n += parts[0][k];
    l = min(l, parts[1][k]), r = max(r, parts[2][k]), t = min(t, parts[3][k]),
    b = max(b, parts[4][k]);
  }
  if (!n) return;
  atomicAdd(area + label, n);
  atomicMin(left + label, l), atomicMax(right + label, r);
  atomicMin(top + label, t), atomicMax(bottom + label, b);
#endif
}
extern "C" void solve(const unsigned char* pixels, const int* tiles, int* area, int* left,
                      int* right, int* top, int* bottom, int height, int width, int labels) {
  for (int* zeroed : {area, right, bottom}) cudaMemsetAsync(zeroed, 0, 4 * labels);
  for (int* high : {left, top}) cudaMemsetAsync(high, 0x7f, 4 * labels);
  find_boxes<<<dim3(width / 32, height / 32), dim3(32, 8)>>>(pixels, tiles, area, left, right, top,
                                                             bottom, width, labels);
}
