#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/job.h"
#include "kernels/worker/device.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// One arena on the device, the call bound to it, and what keeps its calls honest.
///
/// Before every timed call the inout buffers get their first contents back and a few places of each
/// output are poisoned with fresh random bytes; after it the poison must be gone. So a call that
/// skips its work, replays an old answer partly, or leaves it to a thread that is still running
/// when the clock stops is seen. Places are drawn anew for every call.
class PreparedArena {
 public:
  /// Copies `content` (an arena) to the device. Keeps the mapping for the inout buffers.
  static Result<PreparedArena> make(Device& device, void* entry, const job::Prepare& plan,
                                    Mapping content);

  [[nodiscard]] Turn turn();
  [[nodiscard]] const DeviceArena& arena() const { return *arena_; }
  [[nodiscard]] std::int64_t bytes() const { return layout_.bytes; }

 private:
  struct Place {
    std::int64_t offset;
    std::vector<std::byte> poison;
  };

  PreparedArena(Device& device, const job::Prepare& plan, Mapping content,
                std::unique_ptr<DeviceArena> arena, Invocation call);
  void reset();
  [[nodiscard]] bool work_is_there();

  Device* device_;
  job::ArenaLayout layout_;
  bool writes_all_;
  Mapping content_;
  std::unique_ptr<DeviceArena> arena_;
  Invocation call_;
  std::vector<Place> places_;
};

}  // namespace ratchet::worker
