#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// How much each version after v0 gained over the best before it, oldest first: 0.02 is 2 %. What
/// is not correct, not faster by its interval, or masked gained nothing. Pure.
[[nodiscard]] std::vector<double> gains(const RunState& state);

/// Whether the last three closed versions gained less than half a per cent at best.
[[nodiscard]] bool on_plateau(const RunState& state);

/// Which stop conditions hold. Codes: `roof_reached` (of a measured ceiling), `time_reached`,
/// `speedup_reached`, `plateau`, `last_version`. Advice: nothing is refused for it.
[[nodiscard]] std::vector<Reason> stop_reasons(const RunState& state);

/// What makes the claims of a run weaker than they could be; empty: they are strong. Codes of the
/// task's warnings and the checks' notes, and `degraded_profile`.
[[nodiscard]] std::vector<Reason> weaknesses(const RunState& state);

/// The promotion rule over the workload W, from the newest benchmark of the best version against
/// v0: geometric mean at least 1.05 and no case below 1.0.
struct Promotion {
  bool promotable = false;
  std::optional<double> geomean;
  std::optional<double> lowest;
  std::string why;

  static constexpr void fields(auto&& visit) {
    using P = Promotion;
    visit(required("promotable", &P::promotable, "Geomean >= 1.05, no case < 1.0."),
          optional("geomean", &P::geomean, "Over W, against v0, weighted."),
          optional("lowest", &P::lowest, "Worst case."), required("why", &P::why, ""));
  }
};
inline constexpr double kPromotionGeomean = 1.05;
[[nodiscard]] Promotion promotion_of(const RunState& state);

}  // namespace ratchet
