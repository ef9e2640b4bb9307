#pragma once

#include <memory>
#include <vector>

#include "kernels/measure/cupti/activity_recorder.h"
#include "kernels/measure/device/stream_blocker.h"

namespace ratchet::measure {

/// Device time of a call, from the start of its first kernel, copy or memset to the end of its last
/// one, over all streams, by the device's own timestamps (CUPTI Activity).
///
/// Events around a call also include launch overhead and draining stores: 1 to 3.5 µs more on an
/// H200, which is most of a short kernel. The blocker's kernel (`block` or `mark`) before the call
/// marks its start in the records. Thread rule: the thread of the `Gpu`; one per process at a time.
class SpanClock {
 public:
  /// Errors: `unavailable` without CUPTI.
  static Result<std::unique_ptr<SpanClock>> create();

  struct Span {
    double ns = 0;
    int works = 0;     ///< kernels, copies and memsets
    int blockers = 0;  ///< more than one: a kernel under measurement has the blocker's name
  };
  /// Work of the device since the blocker's kernel; all of it must have finished. Empty when there
  /// was no such kernel. Clears the records.
  Span take();

 private:
  struct Work {
    double start_ns;
    double end_ns;
    bool blocker;
  };

  explicit SpanClock(const Cupti& cupti) : cupti_(cupti) {}
  void note(const CUpti_Activity& record);

  Cupti cupti_;
  std::vector<Work> works_;
  std::unique_ptr<ActivityRecorder> recorder_;  // last: it calls `note` until it is gone
};

}  // namespace ratchet::measure
