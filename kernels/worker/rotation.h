#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/worker/kernel.h"
#include "kernels/worker/random.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// One arena on the device, the call bound to it, and what keeps its calls honest.
///
/// Before every timed call the inout buffers get their first contents back, a few elements of each
/// input change (see refresh.h) and a few places of each output are poisoned with fresh random
/// bytes; after it the poison must be gone. So a call that
/// skips its work, replays an old answer partly, or leaves it to a thread that is still running
/// when the clock stops is seen. Places are drawn anew for every call.
class PreparedArena {
 public:
  /// Copies `content` (an arena, the one at `index` of the plan) to the device.
  static Result<PreparedArena> make(Device& device, Kernel& kernel, const wire::Prepare& plan,
                                    std::size_t index, const Mapping& content);
  /// The arena that a judge laid out in `memory`, which is borrowed.
  static Result<PreparedArena> adopt(Device& device, Kernel& kernel, const wire::Prepare& plan,
                                     std::size_t index, const DeviceArena& memory);

  [[nodiscard]] Turn turn();
  [[nodiscard]] const DeviceArena& arena() const { return *arena_; }
  [[nodiscard]] std::int64_t bytes() const { return layout_.bytes; }
  /// Calls since it was made.
  [[nodiscard]] int uses() const { return uses_; }

 private:
  using Patches = std::vector<Device::Patch>;

  PreparedArena(Device& device, const wire::Prepare& plan, std::size_t index,
                std::unique_ptr<DeviceArena> arena)
      : device_(&device),
        layout_(plan.layout),
        writes_all_(plan.writes_all),
        refresh_seed_(plan.refresh_seeds.empty() ? "" : plan.refresh_seeds.at(index)),
        arena_(std::move(arena)) {}
  static Result<PreparedArena> finish(PreparedArena prepared, Kernel& kernel,
                                      const wire::Prepare& plan);
  void reset();
  [[nodiscard]] Patches changes();
  void poison(const wire::Buffer& buffer, const Philox& random, std::uint64_t& draw);
  [[nodiscard]] bool work_is_there();

  Device* device_;
  wire::ArenaLayout layout_;
  bool writes_all_;
  std::string refresh_seed_;
  int uses_ = 0;
  std::unique_ptr<DeviceArena> arena_;
  std::unique_ptr<DeviceArena> first_;  ///< contents at first, where there are inout buffers
  BoundCall call_;
  Patches places_;  ///< poisoned for the call under way
};

}  // namespace ratchet::worker
