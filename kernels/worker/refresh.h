#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/job.h"

namespace ratchet::worker {

/// An element of an input that takes another value.
struct Change {
  std::int64_t offset = 0;           ///< in the arena, bytes
  std::array<std::byte, 8> value{};  ///< the first `bytes` of it
  std::int64_t bytes = 0;
};

/// Where a changed element gets its value from.
struct Move {
  std::int64_t to = 0;    ///< in the arena, bytes
  std::int64_t from = 0;  ///< in the arena as it was sent
  std::int64_t bytes = 0;
};

/// What changes in the inputs of an arena before its call number `use`: a few elements of every
/// input take the value that another element of it was sent with. So no two timed calls see the
/// same contents, whatever a kernel keeps from earlier ones, and every value stays one of its
/// input's distribution. Permutations and offsets stay as they are: they would become invalid.
///
/// `moves_of` tells the same without the values. The seed decides alone: the judge makes the same
/// changes on its side. `sent`: the arena as it was sent. An empty seed changes nothing. Pure.
[[nodiscard]] std::vector<Move> moves_of(const job::ArenaLayout& layout, std::string_view seed,
                                         int use);
[[nodiscard]] std::vector<Change> changes_of(const job::ArenaLayout& layout,
                                             std::span<const std::byte> sent, std::string_view seed,
                                             int use);

/// Copies `sent` to `refreshed` and makes the changes of the calls 0 … uses - 1.
void refresh(const job::Refresh& plan, std::span<const std::byte> sent,
             std::span<std::byte> refreshed);

}  // namespace ratchet::worker
