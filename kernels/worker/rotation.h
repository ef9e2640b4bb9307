#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/job.h"
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
  /// Copies `content` (an arena, the one at `index` of the plan) to the device. Keeps the mapping.
  static Result<PreparedArena> make(Device& device, Kernel& kernel, const job::Prepare& plan,
                                    std::size_t index, Mapping content);

  [[nodiscard]] Turn turn();
  [[nodiscard]] const DeviceArena& arena() const { return *arena_; }
  [[nodiscard]] std::int64_t bytes() const { return layout_.bytes; }
  /// Calls since it was made.
  [[nodiscard]] int uses() const { return uses_; }

 private:
  struct Place {
    std::int64_t offset;
    std::vector<std::byte> poison;
  };

  PreparedArena(Device& device, const job::Prepare& plan, std::size_t index, Mapping content,
                std::unique_ptr<DeviceArena> arena, BoundCall call);
  void reset();
  void poison(const job::Buffer& buffer, const Philox& random, std::uint64_t& draw);
  [[nodiscard]] bool work_is_there();

  Device* device_;
  job::ArenaLayout layout_;
  bool writes_all_;
  std::string refresh_seed_;
  int uses_ = 0;
  Mapping content_;
  std::unique_ptr<DeviceArena> arena_;
  BoundCall call_;
  std::vector<Place> places_;
};

}  // namespace ratchet::worker
