#pragma once

#include "server/facts/roofline_report.h"
#include "server/runs/records/axis_budget.h"

namespace ratchet {

/// The position of a kernel under its roofs, and what follows for the search: the content of
/// `roofline.json` and of the roofline tool's answer.
struct PlacedRoofline : RooflineReport {
  Roofline position;
  Bound bound = Bound::unknown;
  AxisGaps gaps;
  AxisBudget budget;
  bool near_peak = false;

  static constexpr void fields(auto&& visit) {
    using P = PlacedRoofline;
    RooflineReport::fields(visit);
    visit(required<&P::position>("Of all kernels together."),
          required<&P::bound>("By the diagnosis."),
          required<&P::gaps>("To the roofs; what is not measured is left out."),
          required<&P::budget>("Methods per axis, three in all."),
          required<&P::near_peak>("Little is left to the binding roof."));
  }
};

/// Pure.
[[nodiscard]] PlacedRoofline placed_roofline(RooflineReport report, const Profile& profile);

}  // namespace ratchet
