#include "kernels/worker/refresh.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/worker/random.h"

namespace ratchet::worker {
namespace {

constexpr std::uint64_t kChanges = 4;  // per input and call; each costs a small copy on a GPU
constexpr std::uint32_t kStream = 0x52000000U;

bool may_change(const job::Buffer& buffer) {
  const bool ordered = buffer.init.starts_with("permutation") || buffer.init.starts_with("offsets");
  return buffer.role == Role::in && buffer.elements > 1 && !ordered;
}

}  // namespace

std::vector<Move> moves_of(const job::ArenaLayout& layout, std::string_view seed, int use) {
  std::vector<Move> moves;
  if (seed.empty()) return moves;
  std::uint32_t stream = kStream;
  for (const auto& buffer : layout.buffers) {
    const Philox random(seed, stream++);
    if (!may_change(buffer)) continue;
    const auto count = static_cast<std::uint64_t>(buffer.elements);
    const auto bytes = size_of(buffer.dtype);
    for (std::uint64_t i = 0; i < kChanges; ++i) {
      const std::uint64_t draw = 2 * (static_cast<std::uint64_t>(use) * kChanges + i);
      const auto from = static_cast<std::int64_t>(random.below(draw, count));
      const auto to = static_cast<std::int64_t>(random.below(draw + 1, count));
      moves.push_back({buffer.offset + to * bytes, buffer.offset + from * bytes, bytes});
    }
  }
  return moves;
}

std::vector<Change> changes_of(const job::ArenaLayout& layout, std::span<const std::byte> sent,
                               std::string_view seed, int use) {
  std::vector<Change> changes;
  for (const auto& move : moves_of(layout, seed, use)) {
    Change change;
    change.bytes = move.bytes;
    change.offset = move.to;
    std::memcpy(change.value.data(), sent.data() + move.from, static_cast<std::size_t>(move.bytes));
    changes.push_back(change);
  }
  return changes;
}

void refresh(const job::Refresh& plan, std::span<const std::byte> sent,
             std::span<std::byte> refreshed) {
  std::ranges::copy(sent, refreshed.begin());
  for (int use = 0; use < plan.uses; ++use)
    for (const auto& change : changes_of(plan.layout, sent, plan.seed, use))
      std::memcpy(refreshed.data() + change.offset, change.value.data(),
                  static_cast<std::size_t>(change.bytes));
}

}  // namespace ratchet::worker
