#pragma once

// How the time of a kernel depends on the values of its inputs.

#include <optional>
#include <string>

#include "server/core/fields.h"
#include "server/facts/timing.h"

namespace ratchet {

/// The time of a kernel on one of the check's input distributions, or on values of a search.
struct ValueTime {
  std::string values;  ///< the distribution
  Nanoseconds median;
  Comparison against_normal;                 ///< time on it ÷ time on normal values, paired
  std::optional<Comparison> against_parent;  ///< on these values

  static constexpr void fields(auto&& visit) {
    using V = ValueTime;
    visit(required<&V::values>("Input distribution."),
          required("median_ns", &V::median, "Median time on it, ns."),
          required<&V::against_normal>("Time on normal values ÷ time on these; slower: longer."),
          optional<&V::against_parent>("The comparison with the parent on these values."));
  }
};

/// The input distribution that kernels are timed on unless values change their time.
inline constexpr const char* kNormalValues = "normal";

/// A time that differs between the check's distributions by more than the noise.
struct ValueRange {
  std::string fastest, slowest;  ///< distributions
  Nanoseconds low, high;         ///< medians on them
  std::string judged_on;         ///< the values whose comparison gave the verdict

  static constexpr void fields(auto&& visit) {
    using V = ValueRange;
    visit(required<&V::fastest>("Input values it is fastest on."),
          required<&V::slowest>("Slowest on."), required("low_ns", &V::low, "Median there, ns."),
          required("high_ns", &V::high, "Median there, ns."),
          required<&V::judged_on>("The values that the verdict is about: the worst."));
  }
};

/// The values that a profile's verdict is about, by its range of times, if it has one.
[[nodiscard]] inline std::string judged_values(const std::optional<ValueRange>& range) {
  return range ? range->judged_on : kNormalValues;
}

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ValueTime>();
extern template const FieldTable& table_of<ValueRange>();
}  // namespace ratchet::fields_detail
