// The wiki's grouped product: the grid has room for every tile of any sizes, each row is in one
// tile of its own group, and what lanes address is what the plain product addresses
// (gemm-bf16-mma.cpp).
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "region.h"

int main() {
  for (int row = 0; row < kRows; row += 8)
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      std::set<int> banks;
      for (int r = row; r < row + 8; ++r) banks.insert(place(r, chunk) * 2 / 16 % 8);
      if (banks.size() != 8) return std::puts("banks"), 1;
    }
  std::srand(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const int groups = std::rand() % 40 + 1;
    std::vector<int> offsets{0};
    for (int g = 0; g < groups; ++g)
      offsets.push_back(offsets.back() +
                        (std::rand() % 3 == 0 ? 0 : std::rand() % (trial % 2 ? 300 : 3)));
    const int rows = offsets.back();
    std::vector<int> taken(rows, -1);
    const int room = row_tiles(rows, groups);
    for (int tile = 0; tile <= room; ++tile) {
      int group = -1, first = -1, end = -1;
      if (!find(offsets.data(), groups, tile, group, first, end)) continue;
      if (tile == room) return std::puts("room"), 1;
      if (first < offsets[group] || end != offsets[group + 1] || first >= end)
        return std::puts("tile"), 1;
      for (int row = first; row < first + kRows && row < end; ++row) {
        if (taken[row] >= 0) return std::puts("twice"), 1;
        taken[row] = group;
      }
    }
    for (int g = 0; g < groups; ++g)
      for (int row = offsets[g]; row < offsets[g + 1]; ++row)
        if (taken[row] != g) return std::puts("group"), 1;
  }
}
