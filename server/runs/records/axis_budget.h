#pragma once

#include <optional>

#include "server/core/fields.h"
#include "server/facts/profile.h"
#include "server/runs/records/method_registry.h"

namespace ratchet {

/// How much each axis could still gain, 0..1. Empty where nothing was measured: no measurement is
/// no evidence of a gap.
struct AxisGaps {
  std::optional<double> compute, memory, latency;

  [[nodiscard]] std::optional<double> of(Axis axis) const;

  static constexpr void fields(auto&& visit) {
    using G = AxisGaps;
    visit(optional<&G::compute>("1 − best pipe's share of its peak."),
          optional<&G::memory>("1 − share of the memory roof."),
          optional<&G::latency>("Largest stall's share of waiting."));
  }
};

/// How many methods of each axis one version may use.
struct AxisBudget {
  int compute = 0, memory = 0, latency = 0;

  [[nodiscard]] int of(Axis axis) const;
  [[nodiscard]] int total() const { return compute + memory + latency; }

  static constexpr void fields(auto&& visit) {
    using B = AxisBudget;
    visit(required<&B::compute>(), required<&B::memory>(), required<&B::latency>());
  }
};

/// Smaller gaps are not worth a method.
inline constexpr double kLeastGap = 0.10;
/// A kernel closer to the binding roof than this is near its peak.
inline constexpr double kNearPeak = 0.15;

/// Gaps of a profile, from the counters of the longest kernel. Compute and memory use the higher
/// utilization of counters and measured roofs; latency uses the stall samples. Pure.
[[nodiscard]] AxisGaps gaps_of(const Profile& profile);

/// Divides `methods` among the axes in proportion to their gaps, at most `cap` on one axis. An axis
/// without measurements gets none. If every known gap is below `kLeastGap`, each known axis gets
/// one. Pure.
[[nodiscard]] AxisBudget budget_of(const AxisGaps& gaps, int methods, int cap);

/// What each axis may gain by the diagnosis: the bound class's axis counts fully (mixed: compute
/// and memory; occupancy and launch: latency), and every finding adds its headroom to the axis of
/// the first method that treats it, else of its pattern. Empty for an axis that neither names.
/// Pure.
[[nodiscard]] AxisGaps promise_of(const Profile& profile);

/// The budget of the next version: by `promise_of`, and by `gaps_of` where the diagnosis names no
/// axis. Profiles diagnosed by rules before `kBudgetByBound` keep the budget they had: by gaps.
/// Pure.
inline constexpr int kBudgetByBound = 3;
[[nodiscard]] AxisBudget budget_of(const Profile& profile, int methods, int cap);

/// Fraction of the binding measured roof that is reached; empty if no roof is known.
[[nodiscard]] std::optional<double> roof_fraction(const Roofline& roofline);

/// Whether the binding roof is nearly reached; false if no roof is known.
[[nodiscard]] bool near_peak(const Profile& profile);

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<AxisGaps>();
extern template const FieldTable& table_of<AxisBudget>();
}  // namespace ratchet::fields_detail
