#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// The gain of each version after v0 over the best before it (`gain_over`), oldest first: 0.02 is
/// 2 %. A version that is incorrect, does not take its place, or is masked counts as 0. Pure.
[[nodiscard]] std::vector<double> gains(const RunState& state);

/// Whether none of the last three closed versions gained half a percent.
[[nodiscard]] bool on_plateau(const RunState& state);

/// The stop conditions that hold. Codes: `roof_reached` (of a measured ceiling), `time_reached`,
/// `speedup_reached`, `plateau`, `last_version`. Advice only: no step is refused.
[[nodiscard]] std::vector<Reason> stop_reasons(const RunState& state);

/// What weakens the claims of a run; empty if they are strong. Codes: those of the contract's
/// warnings and of the checks' notes, `fixed_seed` and `degraded_profile`.
[[nodiscard]] std::vector<Reason> weaknesses(const RunState& state);

/// The one result of a run: its best version against v0.
struct Headline {
  VersionId version;
  double median_ns = 0;
  std::optional<double> speedup, low, high;  ///< paired, with a 95 % interval; empty: it is v0
  Verdict verdict = Verdict::baseline;
  std::string source;  ///< whose comparison it is, in words

  /// "36.2x v0 (95 % interval 28.1 … 51.1), faster, by the final benchmark"
  [[nodiscard]] std::string result() const;
  /// "v1: 4.18 ms, 36.2x v0 (…", in one line.
  [[nodiscard]] std::string text() const;
};

/// By the final benchmark's paired comparison if it measured the best version, over several cases
/// their weighted geometric mean; else by that version's profile. Empty if none is correct and
/// timed. Pure.
[[nodiscard]] std::optional<Headline> headline_of(const RunState& state);

/// The promotion rule over the workload W, from the newest benchmark of the best version against
/// v0: the lower bound of the paired geometric mean is at least 1.05, and no case's verdict is
/// `slower`. Of equal cases, half are measured below 1.0: that alone says nothing.
struct Promotion {
  bool promotable = false;
  std::optional<double> geomean;
  std::optional<double> geomean_low;
  std::optional<double> lowest;
  std::string why;

  static constexpr void fields(auto&& visit) {
    using P = Promotion;
    visit(required<&P::promotable>("Geomean surely >= 1.05, no case slower."),
          optional<&P::geomean>("Over W, against v0, weighted."),
          optional<&P::geomean_low>("Lower end of its 95 % interval."),
          optional<&P::lowest>("Worst case."), required<&P::why>());
  }
};
inline constexpr double kPromotionGeomean = 1.05;
[[nodiscard]] Promotion promotion_of(const RunState& state);

}  // namespace ratchet
