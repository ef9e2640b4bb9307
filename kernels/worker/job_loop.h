#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/protocol/job.h"
#include "kernels/worker/device.h"
#include "kernels/worker/kernel.h"
#include "kernels/worker/rotation.h"
#include "kernels/worker/sandbox.h"
#include "server/core/channel.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Answers requests until the server closes the channel. One loop for all devices and roles; a role
/// refuses what is not its work.
///
/// Thread rule: one thread, the one that calls the kernel. Borrows device, kernel and channel. A
/// reply's `fault` is the kernel's doing, its `error` ours. Descriptors of a request are closed,
/// and mappings of an answer unmapped, before the answer goes out: so the server can seal the
/// answer.
class JobLoop {
 public:
  JobLoop(WorkerRole role, Device& device, Kernel& kernel, Channel& channel)
      : role_(role), device_(device), kernel_(kernel), channel_(channel) {}

  /// Opens the device, calls `opened` when given, enters the sandbox (`readable`: see there), says
  /// READY and serves. Returns the exit code.
  int run(int device_index, const std::vector<std::string>& readable = {},
          const std::function<void()>& opened = {});

 private:
  using Descriptors = std::vector<Fd>;

  [[nodiscard]] job::Reply answer(const job::Request& request, Descriptors& descriptors);
  job::Reply load(const job::Load& plan, Descriptors& descriptors);
  job::Reply execute(const job::Execute& plan, const Descriptors& descriptors);
  job::Reply prepare(const job::Prepare& plan, const Descriptors& descriptors);
  job::Reply time(const job::TimeBlock& plan);
  job::Reply collect(const job::Collect& plan, const Descriptors& descriptors);
  job::Reply count(const job::Count& plan);
  job::Reply generate_arena(const job::Generate& plan, const Descriptors& descriptors);
  job::Reply refresh_arena(const job::Refresh& plan, const Descriptors& descriptors);
  job::Reply forge_arena(const job::Forge& plan, const Descriptors& descriptors);
  job::Reply compare_arenas(const job::Compare& plan, const Descriptors& descriptors);
  job::Reply share(const job::Share& plan);
  job::Reply attach(const job::Attach& plan, const Descriptors& descriptors);
  job::Reply call(const job::Call& plan);
  job::Reply pose(const job::Pose& plan);
  job::Reply weigh(const job::Weigh& plan);
  job::Reply look();
  job::Reply feign(const job::Feign& plan);
  job::Reply exercise(const job::Exercise& plan, const Descriptors& descriptors);
  job::Reply ceilings();

  WorkerRole role_;
  Device& device_;
  Kernel& kernel_;
  Channel& channel_;
  bool loaded_ = false;
  std::string entry_name_;
  std::vector<std::unique_ptr<PreparedArena>> rotation_;
  std::int64_t prepared_bytes_ = 0;        ///< of the arenas prepared last
  std::unique_ptr<DeviceArena> attached_;  ///< shared with a judge
  std::unique_ptr<DeviceJudge> judge_;
  std::vector<Fd> given_;  ///< go out with the answer
};

}  // namespace ratchet::worker
