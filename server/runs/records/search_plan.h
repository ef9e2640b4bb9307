#pragma once

// The settings of the search, frozen with the contract.

#include <optional>

#include "server/core/fields.h"
#include "server/core/lab_meter.h"
#include "server/core/units.h"

namespace ratchet {

/// When a run has reached its goal. The target is a measured ceiling, never a datasheet figure,
/// which no kernel reaches.
struct StopConditions {
  double roof_fraction = 0.9;       ///< of the binding roof, as measured on this device
  std::optional<double> median_ns;  ///< the user's own target, per call
  std::optional<double> speedup;    ///< over v0

  static constexpr void fields(auto&& visit) {
    using S = StopConditions;
    visit(optional<&S::roof_fraction>("Of the binding measured roof.", {.min = 0.01, .max = 1}),
          optional<&S::median_ns>("Time per call, ns.", {.min = 0}),
          optional<&S::speedup>("Over v0.", {.min = 1}));
  }
};

struct SearchPlan {
  int branches = 4;  ///< K, the maximum of one exploration
  int methods = 3;   ///< per version
  int axis_cap = 2;  ///< maximum of those on one axis
  StopConditions stop;
  std::optional<LabBudget> budget;  ///< of labs; empty: no limit

  static constexpr void fields(auto&& visit) {
    using S = SearchPlan;
    visit(optional<&S::branches>(), optional<&S::methods>(), optional<&S::axis_cap>(),
          optional<&S::stop>(), optional<&S::budget>());
  }
};

/// The version of another run from which a run was forked.
struct ForkOrigin {
  RunId run;
  VersionId version;

  static constexpr void fields(auto&& visit) {
    visit(required<&ForkOrigin::run>(), required<&ForkOrigin::version>("A correct version of it."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<StopConditions>();
extern template const FieldTable& table_of<SearchPlan>();
extern template const FieldTable& table_of<ForkOrigin>();
}  // namespace ratchet::fields_detail
