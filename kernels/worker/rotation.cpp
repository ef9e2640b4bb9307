#include "kernels/worker/rotation.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/worker/refresh.h"
#include "server/core/hash.h"

namespace ratchet::worker {
namespace {

constexpr int kPlaces = 8;                // per output
constexpr std::uint64_t kPlaceBytes = 8;  // false alarm once in 2^64 calls
constexpr std::int64_t kLeastBytes = 4;   // smaller outputs may equal the poison by chance

/// A part of memory with another owner.
class BorrowedArena : public DeviceArena {
 public:
  explicit BorrowedArena(std::byte* base) : base_(base) {}
  [[nodiscard]] std::byte* base() const override { return base_; }

 private:
  std::byte* base_;
};

}  // namespace

Result<PreparedArena> PreparedArena::make(Device& device, Kernel& kernel, const wire::Prepare& plan,
                                          std::size_t index, const Mapping& content) {
  auto arena = device.allocate(plan.layout.bytes, plan.shift);
  if (!arena) return arena.error();
  if (auto copied = device.upload(**arena, 0, content.bytes()); !copied) return copied.error();
  return finish(PreparedArena(device, plan, index, *std::move(arena)), kernel, plan);
}

Result<PreparedArena> PreparedArena::adopt(Device& device, Kernel& kernel,
                                           const wire::Prepare& plan, std::size_t index,
                                           const DeviceArena& memory) {
  auto arena = std::make_unique<BorrowedArena>(memory.base() + plan.at.at(index));
  return finish(PreparedArena(device, plan, index, std::move(arena)), kernel, plan);
}

Result<PreparedArena> PreparedArena::finish(PreparedArena prepared, Kernel& kernel,
                                            const wire::Prepare& plan) {
  Device& device = *prepared.device_;
  auto call = kernel.bind(plan.layout, plan.arguments, prepared.arena_->base(), device.stream());
  if (!call) return call.error();
  prepared.call_ = *std::move(call);
  if (std::ranges::find(plan.layout.buffers, Role::inout, &wire::Buffer::role) ==
      plan.layout.buffers.end())
    return prepared;
  auto first = device.allocate(plan.layout.bytes, 0);
  if (!first) return first.error();
  prepared.first_ = *std::move(first);
  if (auto copied = device.copy(*prepared.first_, *prepared.arena_, 0, plan.layout.bytes); !copied)
    return copied.error();
  return prepared;
}

Turn PreparedArena::turn() {
  return {call_.call,
          [this] { reset(); },
          [this] {
            if (call_.settle) call_.settle();
            return work_is_there();
          },
          {arena_->base(), static_cast<std::size_t>(layout_.bytes)}};
}

void PreparedArena::reset() {
  auto patches = changes();
  ++uses_;
  const Philox random(hex(sha256(random_bytes(16))), 0);
  std::uint64_t draw = 0;
  places_.clear();
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role == Role::inout)
      (void)device_->copy(*arena_, *first_, buffer.offset, buffer.bytes());
    if (buffer.role == Role::out && writes_all_ && buffer.bytes() >= kLeastBytes)
      poison(buffer, random, draw);
  }
  patches.insert(patches.end(), places_.begin(), places_.end());
  (void)device_->patch(*arena_, patches);
}

PreparedArena::Patches PreparedArena::changes() {
  const auto moves = moves_of(layout_, refresh_seed_, uses_);
  Patches patches;
  for (const auto& move : moves) patches.push_back({move.from, {}, move.bytes});
  (void)device_->peek(*arena_, patches);
  for (std::size_t i = 0; i < moves.size(); ++i) patches[i].offset = moves[i].to;
  return patches;
}

void PreparedArena::poison(const wire::Buffer& buffer, const Philox& random, std::uint64_t& draw) {
  const auto size = static_cast<std::uint64_t>(buffer.bytes());
  if (size == 0) return;
  const auto bytes = std::bit_floor(std::min(kPlaceBytes, size));
  for (int i = 0; i < kPlaces; ++i) {
    const auto at = static_cast<std::int64_t>(bytes * random.below(draw++, size / bytes));
    const auto block = random(draw++);
    Device::Patch place{buffer.offset + at, {}, static_cast<std::int64_t>(bytes)};
    std::memcpy(place.value.data(), block.data(), bytes);
    places_.push_back(place);
  }
}

bool PreparedArena::work_is_there() {
  auto seen = places_;
  if (!device_->peek(*arena_, seen)) return false;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (std::memcmp(seen[i].value.data(), places_[i].value.data(),
                    static_cast<std::size_t>(places_[i].bytes)) == 0)
      return false;
  return true;
}

}  // namespace ratchet::worker
