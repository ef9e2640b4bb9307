#pragma once

#include "server/facts/types.h"

namespace ratchet {

/// The largest relative error of one rounding to nearest; 0 for integers.
[[nodiscard]] constexpr double unit_roundoff(DType type) {
  using enum DType;
  switch (type) {
    case f64:
      return 0x1p-53;
    case f32:
      return 0x1p-24;
    case f16:
      return 0x1p-11;
    case bf16:
      return 0x1p-8;
    case f8_e4m3:
      return 0x1p-4;
    case f8_e5m2:
      return 0x1p-3;
    default:
      return 0;
  }
}

}  // namespace ratchet
