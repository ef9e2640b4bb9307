#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/measure/cupti/cupti.h"

namespace ratchet::measure {

// The newest layouts that the headers describe, which are those that the library writes.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

/// Hands over CUPTI's activity records of this process: what the device did, and when. Needs no
/// privilege.
///
/// One at a time in a process, because CUPTI's callbacks carry no pointer of ours. The sink is
/// called under a lock, from whatever thread CUPTI uses. Borrows the functions of `cupti`.
class ActivityRecorder {
 public:
  using Sink = std::function<void(const CUpti_Activity& record)>;

  /// Errors: `unavailable` when CUPTI refuses.
  static Result<std::unique_ptr<ActivityRecorder>> start(
      const Cupti& cupti, const std::vector<CUpti_ActivityKind>& kinds, Sink sink);
  ~ActivityRecorder();
  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;

  /// Brings the records of all finished work to the sink; `forced`: of unfinished work too.
  void flush(bool forced = false) const;

 private:
  ActivityRecorder(const Cupti& cupti, std::vector<CUpti_ActivityKind> kinds)
      : cupti_(cupti), kinds_(std::move(kinds)) {}

  const Cupti& cupti_;
  std::vector<CUpti_ActivityKind> kinds_;
};

}  // namespace ratchet::measure
