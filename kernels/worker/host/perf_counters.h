#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/worker/device.h"
#include "server/core/fd.h"

namespace ratchet::worker {

/// Counters of this process and its later threads, from the kernel's perf events.
///
/// Opened before the sandbox, because it forbids opening more; they count only inside `read`.
/// Thread rule: the thread that opened them. Switches and migrations
/// apart, only what happens in user space counts.
class PerfCounters {
 public:
  PerfCounters();

  /// Runs the turn once per group of four events, so that the processor's few counters need not be
  /// shared; `prepare` runs before each. Names are those of `perf list`; names that this machine
  /// lacks are listed as unknown. The one kernel's name is left empty: the events see the whole
  /// call.
  [[nodiscard]] wire::Counters read(const std::vector<std::string>& names, const Turn& turn,
                                    const std::function<void()>& prepare) const;

 private:
  struct Event {
    std::string name;
    Fd fd;
  };

  [[nodiscard]] const Event* find(const std::string& name) const;

  std::vector<Event> events_;
  int hardware_error_ = 0;  ///< errno of opening the cycle counter; 0: it is there
};

}  // namespace ratchet::worker
