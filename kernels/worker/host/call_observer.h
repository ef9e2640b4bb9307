#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/worker/device.h"
#include "server/core/fd.h"

namespace ratchet::worker {

/// What the operating system knows about a call, without hardware counters: its wall and processor
/// time, page faults, lost time slices, and where its threads were when they were sampled.
///
/// Opened before the sandbox, which forbids opening more; it samples only during `observe`. Thread
/// rule: the thread that opened it, which makes the calls.
class CallObserver {
 public:
  CallObserver();
  ~CallObserver();
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;

  struct Observation {
    /// Per call, by perf's names: duration_time, user_time and system_time in ns,
    /// first_thread_time (processor time of the calling thread, ns), minor-faults,
    /// involuntary-context-switches; and run_delay (ns, see core.h). If all threads are sampled:
    /// threads (how many were seen, the calling one included) and, of two or more, thread_work.pct:
    /// the work of an average one as a share of the busiest one's, and thread_waits.pct: samples
    /// of all in the threads' runtime, which are no work.
    std::map<std::string, double> metrics;
    /// User-space samples of the calling thread: `function` is the file name of the shared object
    /// (kernel: the candidate's own; empty: none), `offset` the address in it. `unavailable` says
    /// why there are none.
    wire::PcSamples samples;
  };

  /// Makes one call that does not count, then calls for a fifth of a second, or, if they are so
  /// short that preparing takes most of the time, until there are some samples; `prepare` runs
  /// before each.
  [[nodiscard]] Observation observe(const Turn& turn, const std::function<void()>& prepare);

 private:
  /// Samples of one core, or of the calling thread on all.
  struct Ring {
    Fd fd;
    std::byte* mapped = nullptr;  ///< a page of control data, then samples
  };
  /// Samples of one thread by address.
  using Counts = std::map<std::uint64_t, std::int64_t>;
  struct Seen {
    std::map<pid_t, Counts> threads;
    std::int64_t samples = 0, dropped = 0;
  };

  /// Returns whether it could; `error_` says why not.
  bool open(int core);
  void close_all();
  /// Sets all rings to sample or to rest.
  void sampling(bool on) const;
  /// How far each ring has been written.
  using Marks = std::vector<std::uint64_t>;
  /// As fast as may be, for it runs beside the call.
  void mark(Marks& marks) const;
  /// Reads what came between two marks, and gives the room up to the second back.
  void drain(const Marks& from, const Marks& to, Seen& seen) const;
  [[nodiscard]] wire::PcSamples first_thread(const Seen& seen) const;
  void add_threads(const Seen& seen, std::map<std::string, double>& metrics) const;

  std::vector<Ring> rings_;
  bool all_threads_ = false;
  int error_ = 0;  ///< errno of opening; 0 on success
};

}  // namespace ratchet::worker
