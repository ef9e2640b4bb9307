#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/core/call_context.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// One job per device on the whole machine: a mutex between the threads of this server and an
/// operating-system lock between servers that share a state directory. The system releases the lock
/// of a server that dies.
///
/// Thread-safe. Errors: `timed_out` when the call is canceled while it waits; `unavailable` when
/// the lock file cannot be created.
class DeviceQueue {
 public:
  explicit DeviceQueue(std::filesystem::path folder) : folder_(std::move(folder)) {}

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

 private:
  std::timed_mutex& mutex_of(const std::string& name);

  std::filesystem::path folder_;
  std::mutex guard_;
  std::map<std::string, std::unique_ptr<std::timed_mutex>> mutexes_;
};

}  // namespace ratchet
