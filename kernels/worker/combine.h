#pragma once

#include <cstddef>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// Copies `first` to `combined`, with the named floating-point buffers replaced by their sums with
/// those of `second`, or by their magnitudes. Sums and the bytes of `second` are in the buffers'
/// own types. Uses all cores; pure.
void combine(const wire::Combine& plan, std::span<const std::byte> first,
             std::span<const std::byte> second, std::span<std::byte> combined);

}  // namespace ratchet::worker
