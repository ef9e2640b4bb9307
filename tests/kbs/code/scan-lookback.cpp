// The look-back of the wiki's scan with tiles that finish in any order, and the cover of a tile.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "region.h"

int main() {
  std::set<int> items;
  for (int warp = 0; warp < kWarps; ++warp)
    for (int round = 0; round < kRounds; ++round)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) items.insert(item_of(warp, round, lane) + i);
  if (items.size() != kTile || *items.rbegin() != kTile - 1) return std::puts("cover"), 1;
  if (counted(0) != 32 || counted(1) != 1 || counted(0x80000000u) != 32 || counted(0b1000) != 4)
    return std::puts("counted"), 1;
  std::srand(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const int tiles = std::rand() % 200 + 1;
    std::vector<uint32_t> sums(tiles);
    std::vector<uint64_t> states(tiles);
    uint32_t before = 0;
    std::vector<uint32_t> expected(tiles);
    for (int t = 0; t < tiles; ++t) {
      sums[t] = static_cast<uint32_t>(std::rand()) * 3;
      expected[t] = before;
      before += sums[t];
      // Tile 0 is always a prefix; others have published a sum or, at random, already their prefix.
      const bool prefix = t == 0 || std::rand() % 40 == 0;
      states[t] = prefix ? packed(kPrefix, before) : packed(kSum, sums[t]);
    }
    for (int tile = 1; tile < tiles; ++tile) {
      uint32_t sum = 0, prefixes = 0;
      for (int nearest = tile - 1; prefixes == 0; nearest -= 32) {
        uint64_t window[32];
        for (int lane = 0; lane < 32; ++lane) {
          const int at = nearest - lane;
          window[lane] = at >= 0 ? states[at] : packed(kPrefix, 0);
          prefixes |= static_cast<uint32_t>(flag_of(window[lane]) == kPrefix) << lane;
        }
        for (int lane = 0; lane < counted(prefixes); ++lane) sum += value_of(window[lane]);
      }
      if (sum != expected[tile]) return std::printf("tile %d of %d\n", tile, tiles), 1;
    }
  }
}
