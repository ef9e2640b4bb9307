// The wiki's attention of warp groups: sums cover a group's tile, pairs of them are the left
// operand of the next product as the PTX manual lays it out, steps begin where their numbers lie,
// and queries see their tiles.
#include <cstdio>
#include <set>
#include <utility>

#include "region.h"

int main() {
  static_assert(kSharedBytes <= 232448);
  std::set<std::pair<int, int>> sums;
  for (int t = 0; t < 128; ++t) {
    for (int i = 0; i < 64; ++i) {
      sums.insert({sum_row(t, i), sum_column(t, i)});
      if (sum_row(t, i) != sum_row(t, 0) + i / 2 % 2 * 8) return std::puts("rows"), 1;
    }
    for (int j = 0; j < kKeys / 16; ++j)
      for (int r = 0; r < 4; ++r)
        for (int half = 0; half < 2;
             ++half) {  // wgmma, 64 x 16 from registers: two numbers a register
          const int i = left_sum(j, r) + half, lane = t % 32;
          if (sum_row(t, i) != t / 32 * 16 + r % 2 * 8 + lane / 4) return std::puts("left rows"), 1;
          if (sum_column(t, i) != j * 16 + r / 2 * 8 + lane % 4 * 2 + half)
            return std::puts("left columns"), 1;
        }
  }
  if (sums.size() != 64 * 128 || sums.rbegin()->second != 127) return std::puts("sums"), 1;
  for (int d = 0; d < kDim / 16; ++d)  // row 0 is not exchanged: its numbers lie in order
    if (step_bytes(d) != d * 16 / 64 * kAtomBytes + d * 16 % 64 * 2) return std::puts("steps"), 1;
  for (int tokens = 1; tokens < 600; ++tokens)
    for (int first = 0; first < tokens; first += kQueries) {
      const int last = first + kQueries - 1 < tokens ? first + kQueries - 1 : tokens - 1;
      if (key_tiles(first, tokens, 0) != (tokens + kKeys - 1) / kKeys)
        return std::puts("all keys"), 1;
      if (key_tiles(first, tokens, 1) != last / kKeys + 1) return std::puts("causal keys"), 1;
    }
}
