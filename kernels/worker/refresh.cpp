#include "kernels/worker/refresh.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

#include "kernels/worker/random.h"

namespace ratchet::worker {
namespace {

constexpr std::uint64_t kChanges = 4;  // per input and call; each costs a small copy on a GPU
constexpr std::uint32_t kStream = 0x52000000U;

bool may_change(const wire::Buffer& buffer) {
  const bool ordered = buffer.init.starts_with("permutation") || buffer.init.starts_with("offsets");
  return buffer.role == Role::in && !buffer.constant && buffer.elements > 1 && !ordered;
}

}  // namespace

std::vector<Move> moves_of(const wire::ArenaLayout& layout, std::string_view seed, int use) {
  std::map<std::int64_t, Move> moves;  // by destination; the last one counts
  if (seed.empty()) return {};
  std::uint32_t stream = kStream;
  for (const auto& buffer : layout.buffers) {
    const Philox random(seed, stream++);
    if (!may_change(buffer)) continue;
    const auto count = static_cast<std::uint64_t>(buffer.elements);
    const auto bytes = size_of(buffer.dtype);
    for (std::uint64_t i = 0; i < kChanges; ++i) {
      const std::uint64_t draw = 2 * (static_cast<std::uint64_t>(use) * kChanges + i);
      const auto from =
          buffer.offset + bytes * static_cast<std::int64_t>(random.below(draw, count));
      const auto to =
          buffer.offset + bytes * static_cast<std::int64_t>(random.below(draw + 1, count));
      moves[to] = {to, from, bytes};
    }
  }
  std::vector<Move> all;
  for (const auto& [to, move] : moves) all.push_back(move);
  return all;
}

std::vector<Move> moves_of_all(const wire::ArenaLayout& layout, const wire::Uses& uses) {
  std::map<std::int64_t, Move> first;  // by destination; `from` is where the value was as sent
  for (int use = 0; use < uses.count; ++use) {
    auto moves = moves_of(layout, uses.seed, use);
    for (auto& move : moves)
      if (const auto known = first.find(move.from); known != first.end())
        move.from = known->second.from;
    for (const auto& move : moves) first[move.to] = move;
  }
  std::vector<Move> all;
  for (const auto& [to, move] : first) all.push_back(move);
  return all;
}

void refresh(const wire::Refresh& plan, std::span<const std::byte> sent,
             std::span<std::byte> refreshed) {
  std::ranges::copy(sent, refreshed.begin());
  for (const auto& move : moves_of_all(plan.layout, plan.uses))
    std::memcpy(refreshed.data() + move.to, sent.data() + move.from,
                static_cast<std::size_t>(move.bytes));
}

}  // namespace ratchet::worker
