#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "kernels/protocol/messages.h"
#include "kernels/worker/device.h"
#include "server/core/fd.h"

namespace ratchet::worker {

/// What the operating system knows about a call, without hardware counters: its wall and processor
/// time, page faults, lost time slices, and where its first thread was when it was sampled.
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
    /// involuntary-context-switches; and run_delay (ns, see core.h).
    std::map<std::string, double> metrics;
    /// User-space samples of the calling thread: `function` is the file name of the shared object
    /// (kernel: the candidate's own; empty: none), `offset` the address in it. `unavailable` says
    /// why there are none.
    wire::PcSamples samples;
  };

  /// Makes one call that does not count, then calls for a fifth of a second; `prepare` runs before
  /// each.
  [[nodiscard]] Observation observe(const Turn& turn, const std::function<void()>& prepare);

 private:
  [[nodiscard]] wire::PcSamples samples_since(std::uint64_t begin) const;

  Fd fd_;
  std::byte* ring_ = nullptr;  ///< a page of control data, then samples
  int error_ = 0;              ///< errno of opening; 0 on success
};

}  // namespace ratchet::worker
