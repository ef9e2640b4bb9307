#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// What the figures say about a hypothesis.
enum class Decision {
  accepted,   ///< every condition of accept_if holds, and none of reject_if
  rejected,   ///< a condition of reject_if holds, one of accept_if does not, or it is not correct
  undecided,  ///< an interval covers a bound, or something was not measured
  prose,      ///< there is no condition to evaluate
};
constexpr auto enum_names(Decision) {
  using enum Decision;
  return as_written<accepted, rejected, undecided, prose>();
}

struct HypothesisOutcome {
  Decision decision = Decision::prose;
  std::string words;  ///< each condition with the value it was held against
};

/// Holds a version against `accept_if` (all conditions must hold) and `reject_if` (one is enough)
/// of the hypothesis that it tests. A speedup with an interval holds or fails only where the whole
/// interval does. Empty without such a hypothesis. Pure.
[[nodiscard]] std::optional<HypothesisOutcome> hypothesis_outcome(const RunState& state,
                                                                  const VersionState& version);

/// The names that conditions may use besides the metrics of a profile.
[[nodiscard]] std::vector<std::string> condition_names();

/// What the server will evaluate in a hypothesis, and what in it is not a condition: for whoever
/// wrote it.
[[nodiscard]] std::string evaluated_text(const Hypothesis& hypothesis);

}  // namespace ratchet
