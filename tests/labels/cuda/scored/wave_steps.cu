// Sixty-four steps of a wave on a small grid by one kernel that stays resident and meets at a
// barrier after each step.
// dims: height=512 width=512
// tensor: start float32 height,width in
// tensor: a float32 height,width out
// tensor: b float32 height,width out
// without GRID_BARRIERS, other answers: the blocks do not wait for each other
// without DIVERGENCE, other answers: the edge is repeated instead of a test for each neighbor
#include <cooperative_groups.h>
constexpr int MOST = 64;
__global__ void __launch_bounds__(512)
    wave(const float* __restrict__ start, float* a, float* b, int height, int width) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int n = height * width, first = blockIdx.x * 512 + threadIdx.x, stride = gridDim.x * 512;
  for (int i = first; i < n; i += stride) a[i] = b[i] = start[i];
  grid.sync();
  const int row0 = first / width, col0 = first % width, rows = stride / width,
            cols = stride % width;
  for (int step = 0; step < MOST; ++step) {
    const float* now = step % 2 ? b : a;
    float* next = step % 2 ? a : b;
    int row = row0, col = col0;
    for (int i = first; i < n; i += stride) {
      const float v = __ldcg(now + i);
#ifdef WITHOUT_DIVERGENCE
      const float up = __ldcg(now + i - (row ? width : 0)),
                  down = __ldcg(now + i + (row + 1 < height ? width : 0));
      const float left = __ldcg(now + i - (col ? 1 : 0)),
                  right = __ldcg(now + i + (col + 1 < width ? 1 : 0));
#else
      const float up = row ? __ldcg(now + i - width) : 0.0f,
                  down = row + 1 < height ? __ldcg(now + i + width) : 0.0f;
      const float left = col ? __ldcg(now + i - 1) : 0.0f,
                  right = col + 1 < width ? __ldcg(now + i + 1) : 0.0f;
#endif
      next[i] = 1.99f * v - __ldcg(next + i) + 0.2f * (up + down + left + right - 4 * v);
      row += rows;
      col += cols;
      if (col >= width) {
        col -= width;
        ++row;
      }
    }
#ifndef WITHOUT_GRID_BARRIERS
    grid.sync();
#endif
  }
}
extern "C" void solve(const float* start, float* a, float* b, int height, int width) {
  void* arguments[] = {&start, &a, &b, &height, &width};
  cudaLaunchCooperativeKernel((const void*)wave, dim3(132), dim3(512), arguments, 0, nullptr);
}
