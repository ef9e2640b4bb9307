// The wiki's product of warp groups: sums cover the tile, boxes have the swizzle of the tensor map,
// a warp's stores touch every bank once, and every tile is taken once.
#include <cstdio>
#include <set>
#include <utility>

#include "region.h"

int main() {
  std::set<std::pair<int, int>> sums;
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < 128; ++i) sums.insert({sum_row(t, i), sum_column(t, i)});
  if (sums.size() != 64 * 256 || sums.rbegin()->first != 63) return std::puts("sums"), 1;
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column) {
      const int plain = row * 128 + column * 2;  // the map exchanges bits 4 to 6 by bits 7 to 9
      if (box_byte(row, column) != (plain ^ (plain >> 7 & 7) << 4)) return std::puts("swizzle"), 1;
    }
  for (int warp = 0; warp < 4; ++warp)
    for (int i = 0; i < 128; i += 2) {
      std::set<int> banks;
      for (int t = warp * 32; t < warp * 32 + 32; ++t)
        banks.insert(box_byte(sum_row(t, i), sum_column(t, i) % kAtom) / 4 % 32);
      if (banks.size() != 32) return std::puts("banks"), 1;
    }
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
  static_assert(kSharedBytes <= 232448);
}
