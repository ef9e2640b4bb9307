// The wiki's fp8 product: sums cover a warp group's tile, a thread has two rows, and every tile is
// taken once.
#include <cstdio>
#include <set>
#include <utility>

#include "region.h"

int main() {
  static_assert(kSharedBytes <= 232448 && kK == 128);
  std::set<std::pair<int, int>> sums;
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < 64; ++i) {
      sums.insert({sum_row(t, i), sum_column(t, i)});
      // The kernel takes the scale of the first row for these, that of the row eight below for the
      // others.
      const int row = sum_row(t, 0) + (i / 2 % 2 == 0 ? 0 : 8);
      if (sum_row(t, i) != row) return std::puts("rows"), 1;
    }
  if (sums.size() != 64 * 128 || sums.rbegin()->second != 127) return std::puts("sums"), 1;
  for (int rows = 1; rows < 40; ++rows)
    for (int columns = 1; columns < 20; ++columns) {
      std::set<std::pair<int, int>> tiles;
      for (int number = 0; number < rows * columns; ++number) {
        int row, column;
        tile_of(number, rows, columns, row, column);
        if (row >= 0 && row < rows && column >= 0 && column < columns) tiles.insert({row, column});
      }
      if (static_cast<int>(tiles.size()) != rows * columns) return std::puts("tiles"), 1;
    }
}
