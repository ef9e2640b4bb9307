#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/judge/examiner.h"
#include "kernels/protocol/messages.h"
#include "server/facts/findings.h"

namespace ratchet {

// Turns raw facts about a kernel's failure into reasons with a code and a message. Pure.

/// Code `fault_<kind>`.
[[nodiscard]] Reason reason_of(const Fault& fault);

/// What a failed comparison shows, most significant first. Codes: wrote_out_of_bounds,
/// modified_input, output_not_written, nan_in_output, flushes_small_values, too_noisy, mismatch,
/// no_output. Empty if it passed.
[[nodiscard]] std::vector<Reason> reasons_of(const wire::Comparison& comparison);

/// The record of an examination of one case. The sizes of a hidden one are told only if it failed.
[[nodiscard]] CaseResult result_of(const Case& one, int seed, const std::string& values,
                                   const wire::Comparison& verdict);

/// `ignores_part_of_input`, or what is wrong with the answer to the changed input.
[[nodiscard]] Reason reason_of(const SliceFinding& finding);

/// The message of the first reason; empty if it passed.
[[nodiscard]] std::string described(const wire::Comparison& comparison);

/// `timed_output_wrong` for the result of a timed call; empty if it passed.
[[nodiscard]] std::optional<Reason> reason_of_timed_output(const wire::Comparison& comparison);

/// `unsynchronised_work` if the flags of a timed block say that work was unfinished when a call
/// returned.
[[nodiscard]] std::optional<Reason> reason_of_flags(const std::vector<std::string>& flags);

}  // namespace ratchet
