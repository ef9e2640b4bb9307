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

/// One arena on the device with the call bound to it and the checks on its timed calls.
///
/// Before every timed call the inout buffers are restored, a few elements of each input change (see
/// refresh.h), and a few places of each output are poisoned with fresh random bytes; after the call
/// the poison must be gone. This detects calls that skip work, replay parts of an old answer, or
/// leave work to a thread that is still running when the clock stops. Places are drawn anew for
/// every call.
class PreparedArena {
 public:
  /// Copies `content`, the plan's arena number `index`, to the device.
  static Result<PreparedArena> make(Device& device, Kernel& kernel, const wire::Prepare& plan,
                                    std::size_t index, const Mapping& content);
  /// Uses the arena that a judge laid out in `memory`, which is borrowed.
  static Result<PreparedArena> adopt(Device& device, Kernel& kernel, const wire::Prepare& plan,
                                     std::size_t index, const DeviceArena& memory);

  [[nodiscard]] Turn turn();
  [[nodiscard]] const DeviceArena& arena() const { return *arena_; }
  [[nodiscard]] std::int64_t bytes() const { return layout_.bytes; }
  /// Number of calls so far.
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
  std::unique_ptr<DeviceArena> first_;  ///< initial contents; null without inout buffers
  BoundCall call_;
  Patches places_;  ///< poisoned for the current call
};

}  // namespace ratchet::worker
