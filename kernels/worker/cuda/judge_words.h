#pragma once

// The requests and results of kernels/cuda/judge.cu, as 64-bit words. Pure.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ratchet::worker {

/// Operation codes of judge.cu.
struct Operation {
  enum Code : long long {
    random_bytes,
    gaussian,
    uniform,
    compare_bytes,
    squares,
    output,
    elements,
    shorten,
    rows,
    row_magnitudes,
    sample
  };
};

/// The shapes that `Operation::rows` fills with.
enum class RowShape : long long { special, sequence, extreme };

/// Result records of judge.cu.
struct Squares {
  double sum = 0;
  std::uint64_t finite = 0;
};
struct Tally {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::uint64_t finite = 0, mismatches = 0, far = 0, unwritten = 0, unexpected = 0, first_bad = 0;
};

inline long long word(const std::byte* pointer) {
  return static_cast<long long>(reinterpret_cast<std::uintptr_t>(pointer));
}

inline long long word(double value) {
  return std::bit_cast<long long>(value);
}

/// The first 128 bits of a hexadecimal seed as two words.
inline std::array<long long, 2> key_of(std::string_view hex) {
  std::array<std::uint64_t, 2> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    std::from_chars(hex.data() + 16 * i,
                    hex.data() + std::min<std::size_t>(hex.size(), 16 * i + 16), words[i], 16);
  return {static_cast<long long>(words[0]), static_cast<long long>(words[1])};
}

}  // namespace ratchet::worker
