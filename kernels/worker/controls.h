#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// Bits of the significand of the type that a cheat would compute in instead; empty for types that
/// have none below them.
[[nodiscard]] std::optional<int> smaller_significand(DType type);

/// The input that the identity control hands back for this output: the first of its type and size;
/// null when there is none.
[[nodiscard]] const wire::Buffer* like_output(const wire::ArenaLayout& layout,
                                              const wire::Buffer& output);

/// What a control is made from.
struct ControlInput {
  std::span<const std::byte> sent;
  std::span<const std::byte> expected;
  std::span<const std::byte> other;  ///< the answer to another trial
};

/// Fills `answer` with the arena that a kernel would return if the control were all it did; see
/// wire::Control. False when the control has nothing to offer for one of the outputs: no input of
/// its type and size, or no smaller type. Pure.
[[nodiscard]] bool forge(const wire::Forge& plan, const ControlInput& input,
                         std::span<std::byte> answer);

}  // namespace ratchet::worker
