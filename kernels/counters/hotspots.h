#pragma once

#include <span>

#include "kernels/disassembly/machine_code.h"
#include "kernels/protocol/messages.h"
#include "server/facts/profile.h"

namespace ratchet {

/// How to sample a call that takes `median`: some hundred samples of every multiprocessor a call,
/// and so many calls that short ones give some thousand, too.
[[nodiscard]] wire::Sampling sampling_of(Nanoseconds median);

/// Puts samples to source lines, or to instructions where the code has no lines, by the functions
/// that a disassembler showed (none: offsets alone, and `degraded_reason` says so). Samples of
/// other functions, which are the harness's own, are left out. At most `kMostHotspots`, those with
/// most samples first.
///
/// Reasons under which nothing issued ("…_not_issued") are parts of the reason without the suffix
/// and not counted again. Pure.
inline constexpr std::size_t kMostHotspots = 12;
[[nodiscard]] Hotspots hotspots_from(const wire::PcSamples& samples,
                                     std::span<const CodeFunction> functions);

}  // namespace ratchet
