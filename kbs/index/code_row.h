#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ratchet::kbs {

/// The row number of a part of a file in the full-text index of code. It encodes the file, the part
/// and the magnitude of the part's length, so that ranking needs no other table.
struct CodeRow {
  std::int64_t file = 0;   ///< row of `file`
  std::size_t part = 0;    ///< counted from 0, below 4096
  unsigned magnitude = 0;  ///< floor(log2(distinct terms)), at most 15

  static constexpr unsigned kPartBits = 12;
  static constexpr unsigned kMagnitudeBits = 4;

  [[nodiscard]] static unsigned magnitude_of(std::size_t terms) {
    return std::min(static_cast<unsigned>(std::bit_width(terms | 1U)) - 1U, 15U);
  }
  [[nodiscard]] std::int64_t number() const {
    return (file << (kPartBits + kMagnitudeBits)) |
           static_cast<std::int64_t>(part << kMagnitudeBits) | magnitude;
  }
  [[nodiscard]] static CodeRow of(std::int64_t number) {
    return {number >> (kPartBits + kMagnitudeBits),
            static_cast<std::size_t>(number >> kMagnitudeBits) & ((1U << kPartBits) - 1U),
            static_cast<unsigned>(number) & ((1U << kMagnitudeBits) - 1U)};
  }
};

}  // namespace ratchet::kbs
