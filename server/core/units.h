#pragma once

#include <compare>
#include <string>

namespace ratchet {

/// A number with its unit in the type, so that mixing units does not compile.
/// JSON holds the bare number; its key names the unit (`median_ns`).
template <class Unit, class Rep>
struct Quantity {
  using rep = Rep;
  Rep value{};

  auto operator<=>(const Quantity&) const = default;
};

using Nanoseconds = Quantity<struct NanosecondsUnit, double>;
using Megahertz = Quantity<struct MegahertzUnit, double>;

/// The id of a run: `<kernel>-<8 hex>`. Only `Runs` creates new ones.
struct RunId {
  std::string text;
  auto operator<=>(const RunId&) const = default;
};

/// The number of a version within a run; shown as `v<number>`.
struct VersionId {
  int number = 0;
  auto operator<=>(const VersionId&) const = default;
  [[nodiscard]] std::string text() const { return std::to_string(number).insert(0, 1, 'v'); }
};

}  // namespace ratchet
