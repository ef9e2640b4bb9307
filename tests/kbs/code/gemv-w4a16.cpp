// The order of weights in a word of the wiki's 4-bit product: every pair comes out as two halves
// 1024 + w.
#include <cstdint>
#include <cstdio>

#include "region.h"

int main() {
  for (uint32_t seed = 0; seed < 100000; ++seed) {
    int element[8];
    uint32_t word = 0, state = seed * 2654435761u;
    for (auto& e : element) e = (state = state * 1664525u + 1013904223u) >> 28;
    for (int nibble = 0; nibble < 8; ++nibble)
      word |= static_cast<uint32_t>(element[element_of(nibble)]) << (4 * nibble);
    for (int p = 0; p < 4; ++p)
      for (int half = 0; half < 2; ++half) {
        // fp16 of 1024 <= v < 2048: exponent bits 0x6400, one unit in the last place is 1
        const uint32_t bits = pair_bits(word, p) >> (16 * half) & 0xffff;
        if (bits != 0x6400u + static_cast<uint32_t>(element[2 * p + half]))
          return std::puts("order"), 1;
      }
  }
}
