#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace ratchet {

/// A number with its unit in the type, so that a mix-up does not compile.
/// JSON carries the bare number; the key carries the unit (`median_ns`, `moved_bytes`).
template <class Unit, class Rep>
struct Quantity {
  using rep = Rep;
  Rep value{};

  auto operator<=>(const Quantity&) const = default;
};

using Nanoseconds = Quantity<struct NanosecondsUnit, double>;
using Bytes = Quantity<struct BytesUnit, std::int64_t>;
using Megahertz = Quantity<struct MegahertzUnit, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondUnit, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondUnit, double>;

/// The id of a run: `<kernel>-<8 hex>`. Only `Runs` makes new ones.
struct RunId {
  std::string text;
  auto operator<=>(const RunId&) const = default;
};

/// The number of a version inside a run; shown as `v<number>`.
struct VersionId {
  int number = 0;
  auto operator<=>(const VersionId&) const = default;
  [[nodiscard]] std::string text() const { return std::to_string(number).insert(0, 1, 'v'); }
};

}  // namespace ratchet
