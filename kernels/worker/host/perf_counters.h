#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/worker/device.h"
#include "kernels/worker/host/call_observer.h"
#include "server/core/fd.h"

namespace ratchet::worker {

/// Counters of this process and its later threads, from Linux perf events.
///
/// Opened before the sandbox, which forbids opening more; they count only during `read`. Thread
/// rule: the thread that opened them. Only user space is counted, except for context switches and
/// migrations.
class PerfCounters {
 public:
  /// `observe`: also open what `read` needs to see the call without hardware counters.
  explicit PerfCounters(bool observe);

  /// Runs the turn once per group of four events, so that the processor's few counters need not be
  /// multiplexed; `prepare` runs before each. Names are those of `perf list`; names that this
  /// machine lacks are reported as unknown. The report has one kernel with an empty name, because
  /// the events cover the whole call; if opened to observe and asked to watch, it
  /// also has what CallObserver sees, whatever the names.
  [[nodiscard]] wire::Counters read(const wire::Count& plan, const Turn& turn,
                                    const std::function<void()>& prepare);

 private:
  struct Event {
    std::string name;
    Fd fd;
  };

  [[nodiscard]] const Event* find(const std::string& name) const;

  std::unique_ptr<CallObserver> observer_;
  std::vector<Event> events_;
  int hardware_error_ = 0;  ///< errno of opening the cycle counter; 0 on success
};

}  // namespace ratchet::worker
