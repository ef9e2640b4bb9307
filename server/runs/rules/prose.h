#pragma once

// Checks of evidence and hypothesis against what the server measured and logged. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// The request with values, paths and confidence labels filled in.
/// Errors: `invalid_argument`, listing every problem: a metric that the profile lacks, a document
/// that no logged query returned, an empty text, a missing query.
[[nodiscard]] Result<EvidenceFact> resolve_evidence(const RunState& state,
                                                    const EvidenceRequest& request);

/// Whether the hypothesis is valid for the open version.
/// Errors: `invalid_argument`, listing every problem.
[[nodiscard]] Status check_hypothesis(const RunState& state, const Hypothesis& hypothesis);

/// Whether the version has the query of this purpose that its evidence needs: about the kernel at
/// any time, about the bottleneck after the profile, which reveals it.
[[nodiscard]] bool was_queried(const RunState& state, const VersionState& version,
                               std::string_view purpose);

/// One reason for each broken rule, without a path. Codes for evidence:
/// `facts_missing`, `unknown_metric`, `selected_missing`, `query_not_logged`,
/// `document_not_returned`, `text_missing`, `no_kernel_query`, `no_bottleneck_query`; for
/// hypotheses also `bad_category`, `several_changes`, `expected_missing`, `bad_direction`,
/// `evidence_missing`, `evidence_not_selected`, `duplicate_plan`.
[[nodiscard]] std::vector<Reason> evidence_problems(const RunState& state,
                                                    const VersionState& version,
                                                    const EvidenceRequest& request);
[[nodiscard]] std::vector<Reason> hypothesis_problems(const RunState& state,
                                                      const VersionState& version,
                                                      const Hypothesis& hypothesis);

/// The confidence label of each selected document by the logged queries; empty if no query returned
/// it.
[[nodiscard]] std::vector<std::string> resolve_labels(const RunState& state,
                                                      const EvidenceFact& fact);

/// The request that a recorded fact was made from.
[[nodiscard]] EvidenceRequest request_of(const EvidenceFact& fact);

}  // namespace ratchet
