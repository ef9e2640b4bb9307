#pragma once

#include <span>

#include "kernels/disassembly/machine_code.h"
#include "kernels/protocol/messages.h"
#include "server/facts/profile.h"

namespace ratchet {

/// How to sample a call that takes `median`: some hundred samples per multiprocessor and call, and
/// enough calls to give some thousand for short kernels too.
[[nodiscard]] wire::Sampling sampling_of(Nanoseconds median);

/// Maps samples to source lines, or to instructions if the code has no line information, using the
/// disassembled functions (none: offsets only, with a `degraded_reason`). Samples of other
/// functions belong to the harness and are ignored. At most `kMostHotspots`, most samples first.
///
/// Reasons with the suffix "_not_issued" are subsets of the reason without the suffix and are not
/// counted again. Pure.
inline constexpr std::size_t kMostHotspots = 12;
[[nodiscard]] Hotspots hotspots_from(const wire::PcSamples& samples,
                                     std::span<const CodeFunction> functions);

}  // namespace ratchet
