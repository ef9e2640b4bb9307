#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// An element of an input that takes the value of another one. Offsets in the arena, bytes.
struct Move {
  std::int64_t to = 0;
  std::int64_t from = 0;
  std::int64_t bytes = 0;
};

/// What changes in the inputs of an arena before its call number `use`: a few elements of every
/// input take the value that another element of it has. All values are taken before the first is
/// written; no element is written twice. So no two timed calls see the same contents, whatever a
/// kernel keeps from earlier ones, and every value stays one of its input's distribution.
/// Permutations and offsets stay as they are: they would become invalid.
///
/// The seed decides alone: the judge makes the same changes on its side. An empty seed changes
/// nothing. Pure.
[[nodiscard]] std::vector<Move> moves_of(const wire::ArenaLayout& layout, std::string_view seed,
                                         int use);

/// The changes of all calls 0 … uses - 1 at once: every `from` is a place in the arena as it was
/// sent.
[[nodiscard]] std::vector<Move> moves_of_all(const wire::ArenaLayout& layout,
                                             const wire::Uses& uses);

/// Copies `sent` to `refreshed` and makes the changes of all calls.
void refresh(const wire::Refresh& plan, std::span<const std::byte> sent,
             std::span<std::byte> refreshed);

}  // namespace ratchet::worker
