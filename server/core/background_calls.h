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

/// All jobs of a server. Each works on a thread of its own, because the children of a tool die with
/// the thread that spawned them. A job that was kept can be found, with its answer, until this ends
/// or very many were kept after it.
///
/// Thread-safe. Destroying it, or `stop`, asks all work to end and waits for that: whatever the
/// work uses must outlive it.
class Jobs {
 public:
  /// `most`: jobs at work at once. `most_kept`: jobs that can be found, those at work aside.
  explicit Jobs(std::size_t most = 64, std::size_t most_kept = 1000)
      : most_(most), most_kept_(most_kept) {}
  ~Jobs() { stop(); }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Starts work of `tool` on `run` (may be empty).
  /// Errors: `conflict` while another job works on the same run, since the gate lets one step at a
  /// time through; `unavailable` when too many work or the server ends.
  Result<std::shared_ptr<Job>> start(const std::string& tool, const std::string& run,
                                     Job::Work work);

  /// Makes a job findable: its caller left. The oldest that have ended are forgotten when there are
  /// too many.
  void keep(const std::shared_ptr<Job>& job);
  /// Null for an id that no kept job has.
  [[nodiscard]] std::shared_ptr<Job> find(const std::string& id) const;
  /// The kept job that works on this run now; null when there is none.
  [[nodiscard]] std::shared_ptr<Job> working_on(const std::string& run) const;

  void stop();

 private:
  struct Running {
    std::shared_ptr<Job> job;
    std::thread thread;
  };

  void reap();  // needs the lock

  const std::size_t most_;
  const std::size_t most_kept_;
  mutable std::mutex mutex_;
  bool stopping_ = false;
  std::vector<Running> running_;
  std::vector<std::shared_ptr<Job>> kept_;  // the oldest first
};

/// `not_found`, with the way on.
[[nodiscard]] Error unknown_job(const std::string& id);

}  // namespace ratchet
