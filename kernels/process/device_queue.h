#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

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
  struct Device;

 public:
  /// What a device is called by all processes of the machine; empty: its kind and index.
  using Identify = std::function<std::string(DeviceKind kind, int index, const CallContext& call)>;

  explicit DeviceQueue(std::filesystem::path folder, Identify identify = {})
      : folder_(std::move(folder)), identify_(std::move(identify)) {}

  /// Holds the device until destroyed.
  class Turn {
   public:
    Turn(Device& device, std::unique_lock<std::timed_mutex> lock, Fd file)
        : device_(&device), lock_(std::move(lock)), file_(std::move(file)) {}

   private:
    friend DeviceQueue;
    Device* device_;
    std::unique_lock<std::timed_mutex> lock_;
    Fd file_;  // closing it releases the lock
  };

  /// What a job leaves on a device for the next one like it, such as idle processes.
  class Left {
   public:
    Left() = default;
    Left(const Left&) = delete;
    Left& operator=(const Left&) = delete;
    virtual ~Left() = default;
  };

  /// Waits for the device; reports the wait as progress if another job holds it. What the job
  /// before left there is destroyed, or handed to `left`.
  Result<Turn> wait(DeviceKind kind, int index, const CallContext& call,
                    std::unique_ptr<Left>* left = nullptr);
  /// For the next job of this server on the device of this turn. Destroyed after three seconds
  /// without one, or a minute if one `follows`: a job of another server would find it there.
  void leave(const Turn& turn, std::unique_ptr<Left> left, bool follows = false);
  /// Whether other jobs of this server wait for it, which would not find it.
  [[nodiscard]] static bool wanted(const Turn& turn) { return turn.device_->waiting > 0; }
  /// What the job before left, by one that had no use for it: it stays as long as it would have,
  /// three seconds at least.
  void give_back(const Turn& turn, std::unique_ptr<Left> left);
  /// A job that may use what is left on the device begins, and wants its turn later: what is there
  /// stays for a minute, unless another job has a turn.
  void hold(DeviceKind kind, int index, const CallContext& call);

  /// Waits until no other thread of this server wants the device, for work that can wait. `wanted`
  /// is requested to stop as soon as one does: then the holder gives way. A request of the caller's
  /// own ends the wait.
  Result<Turn> wait_for_spare_time(DeviceKind kind, int index, std::stop_source wanted);

 private:
  struct Device {
    std::timed_mutex mutex;
    std::atomic<int> waiting = 0;
    std::stop_source spare{std::nostopstate};  ///< of who had it last in spare time; under guard_
    std::unique_ptr<Left> left;                ///< under guard_, as the next
    std::chrono::steady_clock::time_point until{};  ///< when it is destroyed
  };

  [[nodiscard]] std::string name_of_device(DeviceKind kind, int index,
                                           const CallContext& call) const;
  Device& device_of(const std::string& name);
  std::unique_ptr<Left> taken_from(Device& device);
  void leave(Device& device, std::unique_ptr<Left> left,
             std::chrono::steady_clock::time_point until);
  /// Destroys what has been left for too long.
  void end_what_is_left(const std::stop_token& stop);
  Result<Fd> lock_file(const std::string& name, const std::function<bool()>& go_on) const;

  std::filesystem::path folder_;
  Identify identify_;
  std::mutex guard_;
  std::map<std::string, std::unique_ptr<Device>> devices_;
  std::uint64_t times_left_ = 0;  // under guard_
  std::condition_variable_any left_;
  std::jthread ender_;  // last: it uses the others
};

}  // namespace ratchet
