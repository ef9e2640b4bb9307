#pragma once

#include <cstdint>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Largest arena, bytes. A case needs several at once (sent, returned, expected, rotation).
inline constexpr std::int64_t kMaxArenaBytes = std::int64_t{32} << 30;

/// Places the tensors of one case in an arena, in the order of `contract.tensors`.
///
/// Every buffer starts at a multiple of `wire::kAlignment`. At least `wire::kGuardBytes` lie before
/// the first, between two and after the last buffer, and every byte outside the buffers is guard.
/// `init` is in canonical form (input_init.h). Pure. Errors: `invalid_argument` when a shape cannot
/// be evaluated or is not positive; `too_large` beyond `kMaxArenaBytes`.
[[nodiscard]] Result<wire::ArenaLayout> layout_of(const Contract& contract, const Dims& dims);

/// The arguments of one call, in the order of the signature. `dims` and `layout` must belong
/// together and to the contract, as `plan_contract` checked.
[[nodiscard]] std::vector<wire::Argument> arguments_of(const Contract& contract, const Dims& dims,
                                                       const wire::ArenaLayout& layout);

/// The same buffers with every floating-point one in float64.
[[nodiscard]] wire::ArenaLayout widened(const wire::ArenaLayout& layout);

/// Bytes of all outputs (out and inout) of a layout.
[[nodiscard]] std::int64_t output_bytes(const wire::ArenaLayout& layout);

}  // namespace ratchet
