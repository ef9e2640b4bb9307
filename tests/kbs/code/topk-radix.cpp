// Keys and digit search of the wiki's radix selection against a sort.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "region.h"

namespace {
uint32_t bits(float x) {
  uint32_t b;
  std::memcpy(&b, &x, 4);
  return b;
}
}  // namespace

int main() {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> order{-inf, -3.f,       -1e-38f, -1e-45f, 0.f, 1e-45f,
                                 1.f,  1.0000001f, 3e38f,   inf,     NAN};
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    if (key_of_bits(bits(order[i])) >= key_of_bits(bits(order[i + 1])))
      return std::puts("order"), 1;
  for (const float x : order)
    if (bits_of_key(key_of_bits(bits(x))) != bits(x)) return std::puts("there and back"), 1;
  std::srand(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const int cols = std::rand() % 700 + 1, k = std::rand() % std::min(cols, kMaxK) + 1;
    std::vector<uint32_t> keys(cols);
    for (auto& key : keys)  // few distinct values in some trials, so that many are equal
      key =
          key_of_bits(bits(static_cast<float>(std::rand() % (trial % 3 == 0 ? 5 : 100000)) - 2.f));
    uint32_t prefix = 0;
    int need = k;
    for (int shift = 24; shift >= 0; shift -= 8) {
      int counts[kDigits] = {};
      for (const auto key : keys)
        if (in_prefix(key, prefix, shift)) ++counts[key >> shift & 255];
      int larger = 0, found = 0;
      const int wanted = need;
      const uint32_t known = prefix;
      for (int digit = 255; digit >= 0; --digit) {
        if (holds(larger, larger + counts[digit], wanted)) {
          prefix = known | static_cast<uint32_t>(digit) << shift;
          need = wanted - larger;
          ++found;
        }
        larger += counts[digit];
      }
      if (found != 1) return std::puts("no digit, or two"), 1;
    }
    auto sorted = keys;
    std::sort(sorted.rbegin(), sorted.rend());
    const auto larger =
        std::count_if(keys.begin(), keys.end(), [&](uint32_t key) { return key > prefix; });
    if (sorted[k - 1] != prefix || larger + need != k)
      return std::printf("k %d of %d\n", k, cols), 1;
  }
}
