#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// Significand bits of the next lower precision, in which a cheat would compute; empty for types
/// without one.
[[nodiscard]] std::optional<int> smaller_significand(DType type);

/// The input that the identity control returns for this output: the first of the same type and
/// size; null when there is none.
[[nodiscard]] const wire::Buffer* like_output(const wire::ArenaLayout& layout,
                                              const wire::Buffer& output);

/// The arenas from which a control's answer is made.
struct ControlInput {
  std::span<const std::byte> sent;
  std::span<const std::byte> expected;
  std::span<const std::byte> other;  ///< the answer to another trial
};

/// Fills `answer` with the arena that a kernel would return if it did only what the control does;
/// see wire::Control. Returns false when the control is not applicable to one of the outputs: no
/// input of its type and size, or no lower precision. Pure.
[[nodiscard]] bool forge(const wire::Forge& plan, const ControlInput& input,
                         std::span<std::byte> answer);

}  // namespace ratchet::worker
