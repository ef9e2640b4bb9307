#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/judge/examiner.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {

/// How a candidate's answers to values at the edges of their types differ from the reference's.
struct EdgeAnswers {
  std::vector<Reason> reasons;  ///< at most one for each kind of values
  std::optional<Fault> fault;   ///< nothing was asked after it
  /// Kinds that were not asked about, and why: the reference failed, or has no finite answer.
  std::vector<std::string> dropped;
  bool asked = false;
  bool reference_failed = false;
};

/// Asks at the smallest of the cases that are no edge cases; nothing if there is none. The
/// candidate and the reference may be left with a fault: no other question may follow.
[[nodiscard]] Result<EdgeAnswers> ask_edge_values(Examiner& examiner, CandidateProcess& candidate,
                                                  const Contract& contract,
                                                  const ExaminedSizes& sizes, std::string_view seed,
                                                  const CallContext& call);

/// Whether the reference's process may not answer for another candidate: compiled code that turns
/// such values into indices may have written anywhere.
[[nodiscard]] bool leaves_doubt(const Contract& contract, const EdgeAnswers& answers);

/// What the answers mean for a check whose contract does not refuse them; empty if they mean
/// nothing.
[[nodiscard]] std::optional<Reason> edge_note_of(const EdgeAnswers& answers);

}  // namespace ratchet
