// Numbers of every type, and sums over a warp. Part of judge.cu.

#pragma once

namespace {

using Word = unsigned long long;
using Bits = unsigned int;

// In the order of DType in server/facts/types.h.
enum Type { f16, bf16, f32, f64, e4m3, e5m2, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

__device__ double decode(Bits code, int exponent_bits, int mantissa_bits, bool infinities) {
  const Bits top = (1u << exponent_bits) - 1;
  const Bits magnitude = code & ((1u << (exponent_bits + mantissa_bits)) - 1);
  const Bits exponent = magnitude >> mantissa_bits;
  const Bits mantissa = magnitude & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (code >> (exponent_bits + mantissa_bits)) & 1 ? -1.0 : 1.0;
  if (infinities && exponent == top) return mantissa ? nan("") : sign * INFINITY;
  if (!infinities && magnitude == ((top << mantissa_bits) | ((1u << mantissa_bits) - 1)))
    return nan("");
  if (exponent == 0) return sign * ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  return sign * ldexp(static_cast<double>(mantissa + (1u << mantissa_bits)),
                      static_cast<int>(exponent) - bias - mantissa_bits);
}

__device__ int bytes_of(Type type) {
  switch (type) {
    case f64:
    case i64:
    case u64:
      return 8;
    case f32:
    case i32:
    case u32:
      return 4;
    case f16:
    case bf16:
    case i16:
    case u16:
      return 2;
    default:
      return 1;
  }
}

/// The element's bytes, as a number.
__device__ Word raw(const unsigned char* data, int bytes, Word i) {
  if (bytes == 8) return reinterpret_cast<const Word*>(data)[i];
  if (bytes == 4) return reinterpret_cast<const Bits*>(data)[i];
  if (bytes == 2) return reinterpret_cast<const unsigned short*>(data)[i];
  return data[i];
}

__device__ double value_of(Word bits, Type type) {
  switch (type) {
    case f64:
      return __longlong_as_double(static_cast<long long>(bits));
    case f32:
      return __uint_as_float(static_cast<Bits>(bits));
    case bf16:
      return __uint_as_float(static_cast<Bits>(bits) << 16);
    case f16:
      return decode(static_cast<Bits>(bits), 5, 10, true);
    case e4m3:
      return decode(static_cast<Bits>(bits), 4, 3, false);
    case e5m2:
      return decode(static_cast<Bits>(bits), 5, 2, true);
    case i8:
      return static_cast<signed char>(bits);
    case i16:
      return static_cast<short>(bits);
    case i32:
      return static_cast<int>(bits);
    case i64:
      return static_cast<double>(static_cast<long long>(bits));
    default:
      return static_cast<double>(bits);
  }
}

__device__ double sum_of_warp(double value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(~0u, value, mask);
  return value;
}

__device__ double most_of_warp(double value) {
  for (int mask = 16; mask > 0; mask /= 2) value = fmax(value, __shfl_xor_sync(~0u, value, mask));
  return value;
}

__device__ Word count_of_warp(Word value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(~0u, value, mask);
  return value;
}

__device__ Word least_of_warp(Word value) {
  for (int mask = 16; mask > 0; mask /= 2) {
    const Word other = __shfl_xor_sync(~0u, value, mask);
    value = other < value ? other : value;
  }
  return value;
}

}  // namespace
