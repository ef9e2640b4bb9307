#pragma once

#include <cstddef>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// `rms` and `not_finite` of an answer's outputs. Uses all cores; pure.
[[nodiscard]] wire::Answered describe(const wire::ArenaLayout& layout,
                                      std::span<const std::byte> answer);

/// Copies every buffer of an arena to its place in the wide one, floating-point values as float64.
/// Outputs keep zeros. Uses all cores; pure.
void widen(const wire::Widen& plan, std::span<const std::byte> sent, std::span<std::byte> wide);

}  // namespace ratchet::worker
