#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "server/core/call_context.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// One job per device on the whole machine: a mutex between the threads of this server and an
/// operating-system lock between servers that share a state directory. The system releases the lock
/// of a server that dies. What a process calls GPU 0 depends on the GPUs that it sees, so a lock is
/// named after the device itself.
///
/// Thread-safe. Errors: `timed_out` when the call is canceled while it waits; `unavailable` when
/// the lock file cannot be created.
class DeviceQueue {
 public:
  /// What a device is called by all processes of the machine; empty: its kind and index.
  using Identify = std::function<std::string(DeviceKind kind, int index, const CallContext& call)>;

  explicit DeviceQueue(std::filesystem::path folder, Identify identify = {})
      : folder_(std::move(folder)), identify_(std::move(identify)) {}

  /// Holds the device until destroyed.
  class Turn {
   public:
    Turn(std::unique_lock<std::timed_mutex> lock, Fd file)
        : lock_(std::move(lock)), file_(std::move(file)) {}

   private:
    std::unique_lock<std::timed_mutex> lock_;
    Fd file_;  // closing it releases the lock
  };

  /// Waits for the device; reports the wait as progress if another job holds it.
  Result<Turn> wait(DeviceKind kind, int index, const CallContext& call);

  /// Waits until no other thread of this server wants the device, for work that can wait. `wanted`
  /// is requested to stop as soon as one does: then the holder gives way. A request of the caller's
  /// own ends the wait.
  Result<Turn> wait_for_spare_time(DeviceKind kind, int index, std::stop_source wanted);

 private:
  struct Device {
    std::timed_mutex mutex;
    std::atomic<int> waiting = 0;
    std::stop_source spare{std::nostopstate};  ///< of who had it last in spare time; under guard_
  };

  [[nodiscard]] std::string name_of_device(DeviceKind kind, int index,
                                           const CallContext& call) const;
  Device& device_of(const std::string& name);
  Result<Fd> lock_file(const std::string& name, const std::function<bool()>& go_on) const;

  std::filesystem::path folder_;
  Identify identify_;
  std::mutex guard_;
  std::map<std::string, std::unique_ptr<Device>> devices_;
};

}  // namespace ratchet
