#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/runs/ledger/run_state.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/method_registry.h"

namespace ratchet {

/// A method in a run: what its triggers measure, and whether it may be chosen.
struct MethodStanding {
  const Method* method = nullptr;
  std::optional<double> strength;       ///< 0..1; empty: none of its metrics was measured
  std::vector<MetricFact> readings;     ///< of its triggers
  std::optional<std::string> excluded;  ///< reason code if it may not be chosen
};

/// The version that a search starts from: the run's best, or the open version's parent if there is
/// no best yet. Null if it has no profile.
[[nodiscard]] const VersionState* search_base(const RunState& state);

/// 0 at the good end of a trigger, 1 at the bad end. Pure.
[[nodiscard]] double strength_of(const MethodTrigger& trigger, double value);

/// Every method with the readings of `base`'s profile. A strength above 0 indicates the method.
[[nodiscard]] std::vector<MethodStanding> standings(const RunState& state,
                                                    const VersionState* base);

/// All rules that a proposal breaks; empty if it is accepted. Codes: `count_differs`,
/// `axis_over_budget`, `unknown_method`, `arch_incompatible`, `feature_unavailable`,
/// `already_selected`, `ineffective`, `implementation_failed`, `higher_priority_open`,
/// `skip_reason_false`, `coupled_pair`, `conflicting_pair`, `no_profile`.
[[nodiscard]] std::vector<Reason> proposal_reasons(const RunState& state,
                                                   const std::vector<ProposedMethod>& proposed);

/// The fact to record for an accepted proposal.
[[nodiscard]] MethodsFact methods_fact(const RunState& state,
                                       const std::vector<ProposedMethod>& proposed);

}  // namespace ratchet
