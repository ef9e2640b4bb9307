// The wiki's product for tensor memory: fields of the descriptors where the PTX manual has them,
// room, tiles.
#include <cstdint>
#include <cstdio>
#include <set>
#include <utility>

#include "region.h"

int main() {
  static_assert(kSharedBytes <= 232448 && kColumns >= kN && kN % 16 == 0);
  const auto field = [](uint64_t word, int low, int high) {
    return word >> low & ((uint64_t{1} << (high - low + 1)) - 1);
  };
  if (field(kInstruction, 4, 5) != 1 || field(kInstruction, 7, 9) != 1 ||
      field(kInstruction, 10, 12) != 1 || field(kInstruction, 13, 16) != 0 ||
      field(kInstruction, 17, 22) * 8 != kN || field(kInstruction, 24, 28) * 16 != kM)
    return std::puts("instruction"), 1;
  for (uint32_t at = 1024; at < kSharedBytes; at += 32) {
    const auto word = operand(at);
    if (field(word, 0, 13) * 16 != at || field(word, 32, 45) * 16 != 1024 ||
        field(word, 46, 48) != 1 || field(word, 49, 60) != 0 || field(word, 61, 63) != 2)
      return std::puts("operand"), 1;
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
}
