#pragma once

#include "kernels/process/device_contention.h"
#include "kernels/timing/comparison.h"

namespace ratchet {

/// Others on a device while something is timed there. They are looked for before, and once more
/// after it, because one may come or go; one that does both in between is not seen. A session's
/// rounds alternate, so that a neighbor slows all contestants: its times and comparisons are
/// flagged `kDeviceShared` and keep their verdicts. Idle processes count, too, because nobody can
/// tell whether they stay idle; processes of this server do not.
class Neighbors {
 public:
  /// Looks. Borrows the call.
  Neighbors(DeviceInfo device, const CallContext& call);

  void look_again();
  [[nodiscard]] bool any() const { return !seen_.processes.empty(); }
  /// "other processes: pid 4711 python3 (nvidia-smi)".
  [[nodiscard]] std::string text() const { return described(seen_); }
  void note(Timing& timing) const;
  void note(Comparison& comparison) const;

 private:
  DeviceInfo device_;
  const CallContext& call_;
  DeviceContention seen_;
};

}  // namespace ratchet
