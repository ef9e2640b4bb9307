// The wiki's decode attention: parts cover all keys in whole rounds, fit into the room for partial
// results, and a turn of a warp stays within a page.
#include <cstdint>
#include <cstdio>

#include "region.h"

int main() {
  static_assert(kPage % kTurn == 0 && kRound % kTurn == 0);
  for (int heads = 1; heads < 9000; heads = heads * 5 / 4 + 1)
    for (int group = 1; group <= kMaxGroup; ++group)
      for (int pages = 1; pages < 20000; pages = pages * 3 / 2 + 1) {
        const int longest = pages * kPage, parts = parts_for(heads, group, longest, 132);
        if (heads * group > kMaxParts) {
          if (parts >= 1) return std::puts("room"), 1;
          continue;
        }
        const int keys = keys_of_part(longest, parts);
        if (parts < 1 || heads * group * parts > kMaxParts) return std::puts("parts"), 1;
        if (keys % kRound != 0 || static_cast<long>(parts) * keys < longest)
          return std::puts("keys"), 1;
        for (int length = 1; length <= longest; length = length * 2 + 1)
          if ((length + keys - 1) / keys > parts) return std::puts("used"), 1;
      }
}
