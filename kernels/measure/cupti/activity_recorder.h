#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/measure/cupti/cupti.h"

namespace ratchet::measure {

// The newest record layouts of the headers, which the library of the same major version writes.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

/// Passes CUPTI's activity records of this process (what the device did, and when) to a sink. Needs
/// no privilege.
///
/// One per process at a time, because CUPTI's callbacks take no user pointer. The sink is called
/// under a lock, on any thread that CUPTI uses. Borrows `cupti`.
class ActivityRecorder {
 public:
  using Sink = std::function<void(const CUpti_Activity& record)>;

  /// Errors: `unavailable` when CUPTI fails.
  static Result<std::unique_ptr<ActivityRecorder>> start(
      const Cupti& cupti, const std::vector<CUpti_ActivityKind>& kinds, Sink sink);
  ~ActivityRecorder();
  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;

  /// Passes the records of all finished work to the sink; with `forced`, of unfinished work too.
  void flush(bool forced = false) const;

 private:
  ActivityRecorder(const Cupti& cupti, std::vector<CUpti_ActivityKind> kinds)
      : cupti_(cupti), kinds_(std::move(kinds)) {}

  const Cupti& cupti_;
  std::vector<CUpti_ActivityKind> kinds_;
};

}  // namespace ratchet::measure
