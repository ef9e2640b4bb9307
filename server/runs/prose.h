#pragma once

// What the agent writes in words, checked against what the server measured and logged. Pure.

#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/runs/run_state.h"

namespace ratchet {

/// Fills values, paths and confidence labels into a request.
/// Errors: `invalid_argument` that lists every problem at once: a metric the profile lacks, a
/// document that no logged query returned, an empty text, a missing query.
[[nodiscard]] Result<EvidenceFact> resolve_evidence(const RunState& state,
                                                    const EvidenceRequest& request);

/// Whether the hypothesis may stand for the open version.
/// Errors: `invalid_argument` that lists every problem at once.
[[nodiscard]] Status check_hypothesis(const RunState& state, const Hypothesis& hypothesis);

/// The same rules about what is recorded, as gate reasons: `evidence_invalid`,
/// `hypothesis_invalid`.
[[nodiscard]] std::vector<std::string> evidence_problems(const RunState& state,
                                                         const VersionState& version,
                                                         const EvidenceRequest& request);
[[nodiscard]] std::vector<std::string> hypothesis_problems(const RunState& state,
                                                           const VersionState& version,
                                                           const Hypothesis& hypothesis);

/// The request that a recorded fact came from.
[[nodiscard]] EvidenceRequest request_of(const EvidenceFact& fact);

}  // namespace ratchet
