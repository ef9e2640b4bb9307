#include "kernels/worker/rotation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/worker/refresh.h"
#include "server/core/hash.h"

namespace ratchet::worker {
namespace {

constexpr int kPlaces = 8;               // per output; each costs a small copy on a GPU
constexpr std::int64_t kPlaceBytes = 8;  // wrong by chance once in 2^64 calls
constexpr std::int64_t kLeastBytes = 4;  // smaller outputs cannot be told from chance

}  // namespace

PreparedArena::PreparedArena(Device& device, const job::Prepare& plan, std::size_t index,
                             Mapping content, std::unique_ptr<DeviceArena> arena, BoundCall call)
    : device_(&device),
      layout_(plan.layout),
      writes_all_(plan.writes_all),
      refresh_seed_(plan.refresh_seeds.empty() ? "" : plan.refresh_seeds.at(index)),
      content_(std::move(content)),
      arena_(std::move(arena)),
      call_(std::move(call)) {}

Result<PreparedArena> PreparedArena::make(Device& device, Kernel& kernel, const job::Prepare& plan,
                                          std::size_t index, Mapping content) {
  auto arena = device.allocate(plan.layout.bytes, plan.shift);
  if (!arena) return arena.error();
  if (auto copied = device.upload(**arena, 0, content.bytes()); !copied) return copied.error();
  auto call = kernel.bind(plan.layout, plan.arguments, (*arena)->base(), device.stream());
  if (!call) return call.error();
  return PreparedArena(device, plan, index, std::move(content), *std::move(arena),
                       *std::move(call));
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
  places_.clear();
  for (const auto& change : changes_of(layout_, content_.bytes(), refresh_seed_, uses_))
    (void)device_->upload(*arena_, change.offset,
                          std::span(change.value).first(static_cast<std::size_t>(change.bytes)));
  ++uses_;
  const Philox random(hex(sha256(random_bytes(16))), 0);
  std::uint64_t draw = 0;
  for (const auto& buffer : layout_.buffers) {
    if (buffer.role == Role::inout) {
      const auto first = content_.bytes().subspan(static_cast<std::size_t>(buffer.offset),
                                                  static_cast<std::size_t>(buffer.bytes()));
      (void)device_->upload(*arena_, buffer.offset, first);
    }
    if (buffer.role == Role::out && writes_all_ && buffer.bytes() >= kLeastBytes)
      poison(buffer, random, draw);
  }
}

void PreparedArena::poison(const job::Buffer& buffer, const Philox& random, std::uint64_t& draw) {
  const std::int64_t bytes = std::min(kPlaceBytes, buffer.bytes());
  const auto span = static_cast<std::uint64_t>(buffer.bytes() - bytes + 1);
  for (int i = 0; i < kPlaces; ++i) {
    const auto at = static_cast<std::int64_t>(random.below(draw++, span));
    const auto block = random(draw++);
    Place place{buffer.offset + at, std::vector<std::byte>(static_cast<std::size_t>(bytes))};
    std::memcpy(place.poison.data(), block.data(), place.poison.size());
    (void)device_->upload(*arena_, place.offset, place.poison);
    places_.push_back(std::move(place));
  }
}

bool PreparedArena::work_is_there() {
  std::vector<std::byte> seen;
  for (const auto& place : places_) {
    seen.resize(place.poison.size());
    if (!device_->download(*arena_, place.offset, seen)) return false;
    if (seen == place.poison) return false;
  }
  return true;
}

}  // namespace ratchet::worker
