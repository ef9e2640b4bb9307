// Sixty-four steps of a wave on a small grid by one kernel that stays resident and meets at a barrier after each step.
// dims: height=512 width=512
// tensor: start float32 height,width in
// tensor: a float32 height,width out
// tensor: b float32 height,width out
// without GRID_BARRIERS, other answers: the blocks do not wait for each other
// without INTEGER_DIVISION: row and column of the cells are found before the first step
#include <cooperative_groups.h>
constexpr int MOST = 64;
__global__ void __launch_bounds__(512) wave(const float* __restrict__ start, float* a, float* b, int height, int width) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int n = height * width, first = blockIdx.x * 512 + threadIdx.x, stride = gridDim.x * 512;
  for (int i = first; i < n; i += stride) a[i] = b[i] = start[i];
  grid.sync();
#ifdef WITHOUT_INTEGER_DIVISION
  const int row0 = first / width, col0 = first % width, rows = stride / width, cols = stride % width;
#endif
  for (int step = 0; step < MOST; ++step) {
    const float* now = step % 2 ? b : a;
    float* next = step % 2 ? a : b;
#ifdef WITHOUT_INTEGER_DIVISION
    int row = row0, col = col0;
#endif
    for (int i = first; i < n; i += stride) {
#ifndef WITHOUT_INTEGER_DIVISION
      const int row = i / width, col = i % width;
#endif
      const float v = __ldcg(now + i);
      const float up = row ? __ldcg(now + i - width) : 0.0f, down = row + 1 < height ? __ldcg(now + i + width) : 0.0f;
      const float left = col ? __ldcg(now + i - 1) : 0.0f, right = col + 1 < width ? __ldcg(now + i + 1) : 0.0f;
      next[i] = 1.99f * v - __ldcg(next + i) + 0.2f * (up + down + left + right - 4 * v);
#ifdef WITHOUT_INTEGER_DIVISION
      row += rows;
      col += cols;
      if (col >= width) {
        col -= width;
        ++row;
      }
#endif
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
