#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/facts/findings.h"

namespace ratchet {

// Raw facts about a kernel's failure as reasons that people and programs can read. Pure.

/// Code `fault_<kind>`.
[[nodiscard]] Reason reason_of(const Fault& fault);

/// What a failed comparison shows, most telling first. Codes: wrote_out_of_bounds, modified_input,
/// output_not_written, nan_in_output, mismatch, no_output. Empty when it passed.
[[nodiscard]] std::vector<Reason> reasons_of(const wire::Comparison& comparison);

/// The first of `reasons_of` as text; empty when it passed.
[[nodiscard]] std::string described(const wire::Comparison& comparison);

/// `timed_output_wrong` for what a timed call left; empty when it passed.
[[nodiscard]] std::optional<Reason> reason_of_timed_output(const wire::Comparison& comparison);

/// `unsynchronised_work` when the flags of a timed block say that work was missing when a call
/// returned.
[[nodiscard]] std::optional<Reason> reason_of_flags(const std::vector<std::string>& flags);

}  // namespace ratchet
