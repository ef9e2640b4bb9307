#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// Assigns one element of an input to another one. Offsets into the arena, bytes.
struct Move {
  std::int64_t to = 0;
  std::int64_t from = 0;
  std::int64_t bytes = 0;
};

/// The changes to an arena's inputs before call number `use`: a few elements of every input take
/// the value of another element of the same input. All values are read before the first is
/// written; no element is written twice. So no two timed calls see the same contents, which defeats
/// results cached from earlier calls, and all values stay within the input's distribution.
/// Permutations and offsets are not changed, because they would become invalid.
///
/// The result depends only on the arguments, so the judge can make the same changes. An empty seed
/// yields no changes. Pure.
[[nodiscard]] std::vector<Move> moves_of(const wire::ArenaLayout& layout, std::string_view seed,
                                         int use);

/// The combined changes of calls 0 … uses - 1; every `from` refers to the arena as it was sent.
[[nodiscard]] std::vector<Move> moves_of_all(const wire::ArenaLayout& layout,
                                             const wire::Uses& uses);

/// Copies `sent` to `refreshed` and applies the changes of all calls.
void refresh(const wire::Refresh& plan, std::span<const std::byte> sent,
             std::span<std::byte> refreshed);

}  // namespace ratchet::worker
