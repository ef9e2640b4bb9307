#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/core/background_call.h"
#include "server/core/result.h"

namespace ratchet {

/// All background calls of a server. Each has its own thread, because a tool's child processes die
/// with the thread that spawned them. A call that was kept can be found by id, with its answer, as
/// long as this object lives and it is not pushed out by newer ones.
///
/// Thread-safe. `stop` and the destructor ask all work to stop and wait until it has: everything
/// the work uses must outlive this object.
class BackgroundCalls {
 public:
  /// `max_running`: calls at work at once. `max_kept`: ended calls that can still be found.
  explicit BackgroundCalls(std::size_t max_running = 64, std::size_t max_kept = 1000)
      : max_running_(max_running), max_kept_(max_kept) {}
  ~BackgroundCalls() { stop(); }
  BackgroundCalls(const BackgroundCalls&) = delete;
  BackgroundCalls& operator=(const BackgroundCalls&) = delete;

  /// Starts the work of `tool` on `run` (may be empty).
  /// Errors: `conflict` while another call works on the same run, because a run takes one step at a
  /// time; `unavailable` when too many calls are at work or the server is stopping.
  Result<std::shared_ptr<BackgroundCall>> start(const std::string& tool, const std::string& run,
                                                BackgroundCall::Work work);

  /// Makes a call findable after its caller has left. Beyond `max_kept` the oldest ended calls are
  /// dropped.
  void keep(const std::shared_ptr<BackgroundCall>& call);
  /// Null when no kept call has this id.
  [[nodiscard]] std::shared_ptr<BackgroundCall> find(const std::string& id) const;
  /// The kept call that is working on this run; null when there is none.
  [[nodiscard]] std::shared_ptr<BackgroundCall> working_on(const std::string& run) const;

  void stop();

 private:
  struct Running {
    std::shared_ptr<BackgroundCall> call;
    std::thread thread;
  };

  void reap();  // needs the lock

  const std::size_t max_running_;
  const std::size_t max_kept_;
  mutable std::mutex mutex_;
  bool stopping_ = false;
  std::vector<Running> running_;
  std::vector<std::shared_ptr<BackgroundCall>> kept_;  // oldest first
};

/// `not_found`, with a hint how to find the result.
[[nodiscard]] Error unknown_job(const std::string& id);

}  // namespace ratchet
