#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

// What both judges, on the processor and on a device, ask about a case, in the same way.

/// Changes of one input element each, where so much is written that one may move one element alone.
[[nodiscard]] std::vector<wire::Changed> single_elements(const Contract& contract,
                                                         const wire::ArenaLayout& layout);
/// Every output exactly.
[[nodiscard]] wire::Compare exact_plan(const wire::ArenaLayout& layout);
/// Of all outputs.
[[nodiscard]] std::int64_t mismatches_of(const wire::Comparison& comparison);

/// The distributions for which the magnitude of an output is left to chance, as it has few
/// elements: it takes several trials to see.
[[nodiscard]] std::vector<std::string> uncertain_magnitudes(const Contract& contract,
                                                            const wire::ArenaLayout& layout);
/// The RMS of each output over several trials, each drawn by a call of `rms_of_trial`. Its errors
/// are passed on.
[[nodiscard]] Result<std::vector<double>> pooled_rms(
    const std::function<Result<std::vector<double>>()>& rms_of_trial);

}  // namespace ratchet
