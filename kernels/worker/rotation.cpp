#include "kernels/worker/rotation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "kernels/worker/refresh.h"
#include "server/core/hash.h"

namespace ratchet::worker {
namespace {

constexpr int kPlaces = 8;               // per output; each costs a small copy on a GPU
constexpr std::int64_t kPlaceBytes = 8;  // wrong by chance once in 2^64 calls
constexpr std::int64_t kLeastBytes = 4;  // smaller outputs cannot be told from chance

/// Part of memory that somebody else holds.
class BorrowedArena : public DeviceArena {
 public:
  explicit BorrowedArena(std::byte* base) : base_(base) {}
  [[nodiscard]] std::byte* base() const override { return base_; }

 private:
  std::byte* base_;
};

}  // namespace

PreparedArena::PreparedArena(Device& device, const job::Prepare& plan, std::size_t index,
                             std::unique_ptr<DeviceArena> arena, BoundCall call)
    : device_(&device),
      layout_(plan.layout),
      writes_all_(plan.writes_all),
      refresh_seed_(plan.refresh_seeds.empty() ? "" : plan.refresh_seeds.at(index)),
      arena_(std::move(arena)),
      call_(std::move(call)) {}

Result<PreparedArena> PreparedArena::make(Device& device, Kernel& kernel, const job::Prepare& plan,
                                          std::size_t index, Mapping content) {
  auto arena = device.allocate(plan.layout.bytes, plan.shift);
  if (!arena) return arena.error();
  if (auto copied = device.upload(**arena, 0, content.bytes()); !copied) return copied.error();
  auto call = kernel.bind(plan.layout, plan.arguments, (*arena)->base(), device.stream());
  if (!call) return call.error();
  PreparedArena prepared(device, plan, index, *std::move(arena), *std::move(call));
  prepared.content_ = std::move(content);
  return prepared;
}

Result<PreparedArena> PreparedArena::adopt(Device& device, Kernel& kernel, const job::Prepare& plan,
                                           const DeviceArena& memory) {
  auto arena = std::make_unique<BorrowedArena>(memory.base() + plan.shift);
  auto first = device.allocate(plan.layout.bytes, 0);
  if (!first) return first.error();
  if (auto copied = device.copy(**first, *arena, 0, plan.layout.bytes); !copied)
    return copied.error();
  auto call = kernel.bind(plan.layout, plan.arguments, arena->base(), device.stream());
  if (!call) return call.error();
  PreparedArena prepared(device, plan, 0, std::move(arena), *std::move(call));
  prepared.first_ = *std::move(first);
  return prepared;
}

Turn PreparedArena::turn() {
  return {call_.call, [this] { reset(); },
          [this] {
            if (call_.settle) call_.settle();
            return work_is_there();
          },
          arena_.get()};
}

void PreparedArena::reset() {
  auto patches = changes();
  ++uses_;
  const Philox random(hex(sha256(random_bytes(16))), 0);
  std::uint64_t draw = 0;
  places_.clear();
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role == Role::inout) restore(buffer);
    if (buffer.role == Role::out && writes_all_ && buffer.bytes() >= kLeastBytes)
      poison(buffer, random, draw);
  }
  patches.insert(patches.end(), places_.begin(), places_.end());
  (void)device_->patch(*arena_, patches);
}

PreparedArena::Patches PreparedArena::changes() {
  Patches patches;
  if (content_) {
    for (const auto& change : changes_of(layout_, content_->bytes(), refresh_seed_, uses_))
      patches.push_back({change.offset, change.value, change.bytes});
    return patches;
  }
  const auto moves = moves_of(layout_, refresh_seed_, uses_);
  for (const auto& move : moves) patches.push_back({move.from, {}, move.bytes});
  (void)device_->peek(*first_, patches);
  for (std::size_t i = 0; i < moves.size(); ++i) patches[i].offset = moves[i].to;
  return patches;
}

/// The buffer's first contents.
void PreparedArena::restore(const job::Buffer& buffer) {
  if (content_)
    (void)device_->upload(*arena_, buffer.offset,
                          content_->bytes().subspan(static_cast<std::size_t>(buffer.offset),
                                                    static_cast<std::size_t>(buffer.bytes())));
  else
    (void)device_->copy(*arena_, *first_, buffer.offset, buffer.bytes());
}

void PreparedArena::poison(const job::Buffer& buffer, const Philox& random, std::uint64_t& draw) {
  const std::int64_t bytes = std::min(kPlaceBytes, buffer.bytes());
  const auto span = static_cast<std::uint64_t>(buffer.bytes() - bytes + 1);
  for (int i = 0; i < kPlaces; ++i) {
    const auto at = static_cast<std::int64_t>(random.below(draw++, span));
    const auto block = random(draw++);
    Device::Patch place{buffer.offset + at, {}, bytes};
    std::memcpy(place.value.data(), block.data(), static_cast<std::size_t>(bytes));
    places_.push_back(place);
  }
}

bool PreparedArena::work_is_there() {
  auto seen = places_;
  if (!device_->peek(*arena_, seen)) return false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto size = static_cast<std::size_t>(places_[i].bytes);
    if (std::memcmp(seen[i].value.data(), places_[i].value.data(), size) == 0) return false;
  }
  return true;
}

}  // namespace ratchet::worker
