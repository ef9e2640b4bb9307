#pragma once

#include <cstddef>
#include <span>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Moves a slice of one input's elements by about `amount` (half to one and a half of it, a quarter
/// of them downwards, so that neither sums nor means of them stay). Values stay within the range of
/// a `uniform` or `integers` input, whatever the amount. `bytes` are the tensor's. Pure. Errors:
/// `invalid_argument` for a slice outside the tensor.
Status move_slice(std::span<std::byte> bytes, const wire::Buffer& buffer, const wire::Slice& slice);

/// Copies `sent` to `changed` and moves the slice. Errors: as above, or no such input.
Status change(const wire::Change& plan, std::span<const std::byte> sent,
              std::span<std::byte> changed);

}  // namespace ratchet::worker
