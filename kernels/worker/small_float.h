#pragma once

// Conversion between values of every dtype and doubles, for generating inputs and comparing
// outputs. Pure and thread-safe.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "server/facts/contract.h"

namespace ratchet::worker {

/// A binary floating-point format of at most 16 bits.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool infinities;  ///< e4m3 has none: it saturates, and its only NaN is all ones

  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

inline constexpr SmallFloat kHalf{5, 10, true};
inline constexpr SmallFloat kBfloat{8, 7, true};
inline constexpr SmallFloat kE4M3{4, 3, false};
inline constexpr SmallFloat kE5M2{5, 2, true};

/// The nearest value of the format, ties to even; above the largest value: infinity, or the largest
/// value if the format has no infinity.
[[nodiscard]] inline std::uint16_t encode_small(double value, SmallFloat format) {
  const int m = format.mantissa_bits;
  const auto sign =
      static_cast<std::uint16_t>(std::signbit(value) ? 1U << (format.exponent_bits + m) : 0U);
  const unsigned top = (1U << format.exponent_bits) - 1U;
  const unsigned all_ones = (top << m) | ((1U << m) - 1U);
  if (std::isnan(value))
    return static_cast<std::uint16_t>(
        sign | (format.infinities ? (top << m) | (1U << (m - 1)) : all_ones));
  const unsigned largest = format.infinities ? (top << m) - 1U : all_ones - 1U;
  const unsigned beyond = format.infinities ? top << m : largest;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | beyond);
  if (magnitude == 0) return sign;
  // Magnitude in units of the format's spacing, which is constant below the smallest normal number.
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double steps = std::nearbyint(std::ldexp(magnitude, m - exponent));
  // Rounding up carries into the exponent: 2^(m+1) units is the next power of two.
  const double code = steps + std::ldexp(static_cast<double>(exponent + format.bias() - 1), m);
  if (code > static_cast<double>(largest)) return static_cast<std::uint16_t>(sign | beyond);
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(code));
}

[[nodiscard]] inline double decode_small(std::uint16_t code, SmallFloat format) {
  const int m = format.mantissa_bits;
  const unsigned top = (1U << format.exponent_bits) - 1U;
  const unsigned magnitude = code & ((1U << (format.exponent_bits + m)) - 1U);
  const unsigned exponent = magnitude >> m;
  const unsigned mantissa = magnitude & ((1U << m) - 1U);
  const double sign = (code >> (format.exponent_bits + m)) & 1U ? -1.0 : 1.0;
  if (format.infinities && exponent == top)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (!format.infinities && magnitude == ((top << m) | ((1U << m) - 1U)))
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), 1 - format.bias() - m);
  return sign * std::ldexp(static_cast<double>(mantissa + (1U << m)),
                           static_cast<int>(exponent) - format.bias() - m);
}

template <class T>
[[nodiscard]] T load_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Element `index` of a buffer as a double. 64-bit integers above 2^53 are rounded; exact
/// comparisons use the bytes instead.
[[nodiscard]] inline double element(const std::byte* buffer, DType type, std::int64_t index) {
  const std::byte* at = buffer + index * size_of(type);
  switch (type) {
    case DType::f64:
      return load_as<double>(at);
    case DType::f32:
      return static_cast<double>(load_as<float>(at));
    case DType::bf16:
      return static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(load_as<std::uint16_t>(at)) << 16U));
    case DType::f16:
      return decode_small(load_as<std::uint16_t>(at), kHalf);
    case DType::f8_e4m3:
      return decode_small(load_as<std::uint8_t>(at), kE4M3);
    case DType::f8_e5m2:
      return decode_small(load_as<std::uint8_t>(at), kE5M2);
    case DType::i8:
      return load_as<std::int8_t>(at);
    case DType::i16:
      return load_as<std::int16_t>(at);
    case DType::i32:
      return load_as<std::int32_t>(at);
    case DType::i64:
      return static_cast<double>(load_as<std::int64_t>(at));
    case DType::u16:
      return load_as<std::uint16_t>(at);
    case DType::u32:
      return load_as<std::uint32_t>(at);
    case DType::u64:
      return static_cast<double>(load_as<std::uint64_t>(at));
    case DType::u8:
    case DType::boolean:
      return load_as<std::uint8_t>(at);
  }
  return 0;
}

template <class T>
void store_as(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

/// Stores `value`, rounded to the dtype.
inline void set_element(std::byte* buffer, DType type, std::int64_t index, double value) {
  std::byte* at = buffer + index * size_of(type);
  switch (type) {
    case DType::f64:
      return store_as(at, value);
    case DType::f32:
      return store_as(at, static_cast<float>(value));
    case DType::f16:
      return store_as(at, encode_small(value, kHalf));
    case DType::bf16:
      return store_as(at, encode_small(value, kBfloat));
    case DType::f8_e4m3:
      return store_as(at, static_cast<std::uint8_t>(encode_small(value, kE4M3)));
    case DType::f8_e5m2:
      return store_as(at, static_cast<std::uint8_t>(encode_small(value, kE5M2)));
    default:
      // Little endian: the low bytes of the wide integer are the narrow integer.
      const auto wide = static_cast<std::int64_t>(value);
      std::memcpy(at, &wide, static_cast<std::size_t>(size_of(type)));
  }
}

}  // namespace ratchet::worker
