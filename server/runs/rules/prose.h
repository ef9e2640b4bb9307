#pragma once

// What the agent writes in words, checked against what the server measured and logged. Pure.

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/runs/ledger/run_state.h"

namespace ratchet {

/// The request with values, paths and confidence labels filled in.
/// Errors: `invalid_argument`, listing every problem: a metric that the profile lacks, a document
/// that no logged query returned, an empty text, a missing query.
[[nodiscard]] Result<EvidenceFact> resolve_evidence(const RunState& state,
                                                    const EvidenceRequest& request);

/// Whether the hypothesis may stand for the open version.
/// Errors: `invalid_argument` that lists every problem at once.
[[nodiscard]] Status check_hypothesis(const RunState& state, const Hypothesis& hypothesis);

/// Why prose does not stand, one reason a broken rule, without path. Codes of evidence:
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

/// The confidence label that the log gives each selected document of the evidence; empty where it
/// gives none.
[[nodiscard]] std::vector<std::string> resolve_labels(const RunState& state,
                                                      const EvidenceFact& fact);

/// The request that a recorded fact came from.
[[nodiscard]] EvidenceRequest request_of(const EvidenceFact& fact);

}  // namespace ratchet
