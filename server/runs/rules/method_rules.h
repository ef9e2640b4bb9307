#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/runs/ledger/run_state.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/method_registry.h"

namespace ratchet {

/// Where a method stands in a run: what its trigger reads, and whether it may be chosen.
struct MethodStanding {
  const Method* method = nullptr;
  std::optional<double> strength;       ///< 0..1; empty: none of its metrics was measured
  std::vector<MetricFact> readings;     ///< of its triggers
  std::optional<std::string> excluded;  ///< reason code why it may not be chosen
};

/// The version that a search starts from: the run's best, or the open version's parent if there is
/// no best yet. Null if it has no profile.
[[nodiscard]] const VersionState* search_base(const RunState& state);

/// 0 at the good end of a trigger, 1 at the bad end. Pure.
[[nodiscard]] double strength_of(const MethodTrigger& trigger, double value);

/// Every method against the profile of `base`. A strength above 0 speaks for the method.
[[nodiscard]] std::vector<MethodStanding> standings(const RunState& state,
                                                    const VersionState* base);

/// The eight rules. Codes: `count_differs`,
/// `axis_over_budget`, `unknown_method`, `arch_incompatible`, `feature_unavailable`,
/// `already_selected`, `ineffective`, `implementation_failed`, `higher_priority_open`,
/// `skip_reason_false`, `coupled_pair`, `conflicting_pair`. Empty: accepted.
[[nodiscard]] std::vector<Reason> proposal_reasons(const RunState& state,
                                                   const std::vector<ProposedMethod>& proposed);

/// What is recorded of an accepted proposal.
[[nodiscard]] MethodsFact methods_fact(const RunState& state,
                                       const std::vector<ProposedMethod>& proposed);

}  // namespace ratchet
