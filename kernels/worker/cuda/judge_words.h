#pragma once

// The requests and results of kernels/cuda/judge.cu, as 64-bit words. Pure.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
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
    sample,
    sample_far,
    honesty,
    widen,
    combine,
    exchange
  };
};

/// The shapes that `Operation::rows` fills with.
enum class RowShape : long long { special, sequence, extreme, edge };

/// Result records of judge.cu.
struct Squares {
  double sum = 0;
  std::uint64_t finite = 0;
};
struct DeviceTally {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::uint64_t finite = 0, mismatches = 0, far = 0, unwritten = 0, unexpected = 0,
                first_bad = std::numeric_limits<std::uint64_t>::max();
  double squares = 0, inwards = 0, honest = 0, rounding = 0;
  std::uint64_t small = 0, flushed = 0;
};
struct Sampled {
  std::uint64_t seen = 0, far = 0;
};

/// How judge.cu judges one output, which is in device memory. Null: there is none.
struct DeviceOutput {
  const std::byte *sent = nullptr, *got = nullptr, *expected = nullptr, *terms = nullptr;
  const std::byte* shadow = nullptr;  ///< float64
  const std::byte* honest = nullptr;  ///< RMS errors of the reference by binade, float64
  const std::byte* rows = nullptr;    ///< scales of rows, float32
  std::uint64_t count = 0, type = 0;
  std::uint64_t row = 1;  ///< elements of a row
  double atol = 0, rtol = 0;
  double scale = 1;     ///< of `atol`, without rows
  double least = 0;     ///< allowed at any scale
  double of_terms = 0;  ///< allowed for each unit of the terms' magnitude
  double honest_times = 0, unit = 0, rough_below = 0, far_from_shadow = 0;
  std::uint64_t exact = 0, only_honest = 0, flush = 0;
};

inline long long word(const std::byte* pointer) {
  return static_cast<long long>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// Of host memory, which is read before the operation is queued.
inline long long word_of(const DeviceOutput& output) {
  return static_cast<long long>(reinterpret_cast<std::uintptr_t>(&output));
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
