#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/confine/profile.h"
#include "kernels/protocol/messages.h"
#include "kernels/worker/device.h"
#include "kernels/worker/kernel.h"
#include "kernels/worker/rotation.h"
#include "server/core/channel.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Answers requests until the server closes the channel. One loop serves all devices and roles;
/// each role rejects requests that are not its own.
///
/// Thread rule: one thread, the one that calls the kernel. Borrows device, kernel and channel. A
/// reply's `fault` is caused by the kernel, its `error` by ratchet. Before a reply is sent,
/// the request's descriptors are closed and the answer's mappings unmapped, so that the server can
/// seal the answer.
class JobLoop {
 public:
  JobLoop(confine::Role role, Device& device, Kernel& kernel, Channel& channel)
      : role_(role), device_(device), kernel_(kernel), channel_(channel) {}

  /// Opens the device behind its walls (confine/walls.h; see there for `readable`), calls `opened`
  /// if given before the filter of system calls, sends READY and serves requests. Returns the exit
  /// code.
  int run(int device_index, const std::vector<std::string>& readable = {},
          const std::function<void()>& opened = {});

 private:
  using Descriptors = std::vector<Fd>;

  [[nodiscard]] wire::Reply answer(const wire::Request& request, Descriptors& descriptors);
  wire::Reply load(const wire::Load& plan, Descriptors& descriptors);
  /// The entry, or the function that makes inputs.
  Result<BoundCall> bind(const wire::ArenaLayout& layout,
                         const std::vector<wire::Argument>& arguments,
                         const std::optional<wire::MadeInputs>& inputs, std::byte* base);
  /// One call outside of timing, with its returned values stored.
  wire::Reply call_once(const BoundCall& bound);
  wire::Reply execute(const wire::Execute& plan, const Descriptors& descriptors);
  wire::Reply prepare(const wire::Prepare& plan, const Descriptors& descriptors);
  wire::Reply time(const wire::TimeBlock& plan);
  wire::Reply collect(const wire::Collect& plan, const Descriptors& descriptors);
  wire::Reply count(const wire::Count& plan);
  wire::Reply generate_arena(const wire::Generate& plan, const Descriptors& descriptors);
  wire::Reply refresh_arena(const wire::Refresh& plan, const Descriptors& descriptors);
  wire::Reply change_arena(const wire::Change& plan, const Descriptors& descriptors);
  wire::Reply combine_arenas(const wire::Combine& plan, const Descriptors& descriptors);
  wire::Reply widen_arena(const wire::Widen& plan, const Descriptors& descriptors);
  wire::Reply describe_arena(const wire::Describe& plan, const Descriptors& descriptors);
  wire::Reply forge_arena(const wire::Forge& plan, const Descriptors& descriptors);
  wire::Reply compare_arenas(const wire::Compare& plan, const Descriptors& descriptors);
  wire::Reply share(const wire::Share& plan);
  wire::Reply attach(const wire::Attach& plan, const Descriptors& descriptors);
  wire::Reply call(const wire::Call& plan);
  wire::Reply generate_on_device(const wire::GenerateOnDevice& plan);
  wire::Reply compare_on_device(const wire::CompareOnDevice& plan);
  wire::Reply describe_on_device();
  wire::Reply forge_on_device(const wire::ForgeOnDevice& plan);
  wire::Reply widen_on_device(const wire::WidenOnDevice& plan);
  wire::Reply terms_on_device(const wire::TermsOnDevice& plan);
  wire::Reply exercise(const wire::Exercise& plan, const Descriptors& descriptors);
  wire::Reply ceilings();

  confine::Role role_;
  Device& device_;
  Kernel& kernel_;
  Channel& channel_;
  bool loaded_ = false;
  std::string entry_name_;
  std::vector<std::unique_ptr<PreparedArena>> rotation_;
  std::size_t next_turn_ = 0;              ///< of the rotation, in the next block
  std::int64_t prepared_bytes_ = 0;        ///< size of the arenas prepared last
  std::unique_ptr<DeviceArena> attached_;  ///< shared with a judge
  std::unique_ptr<DeviceArena> wide_;      ///< likewise, for calls in float64
  std::unique_ptr<DeviceJudge> judge_;
  std::vector<Fd> given_;  ///< descriptors to send with the reply
};

}  // namespace ratchet::worker
