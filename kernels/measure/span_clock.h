#pragma once

#include <memory>
#include <vector>

#include "kernels/measure/cupti/activity_recorder.h"
#include "kernels/measure/device/stream_blocker.h"

namespace ratchet::measure {

/// Device time of a call: from the start of its first kernel, copy or fill to the end of its last
/// one, on all streams, by the device's own stamps (CUPTI Activity).
///
/// Events around a call also see how a launch begins and how its stores drain: 1 to 3.5 µs more on
/// an H200, which is most of a short kernel. A gate (or `Gate::pass`) before the call says where it
/// begins in the record. Thread rule: the thread of the `Gpu`; one at a time in a process.
class SpanClock {
 public:
  /// Errors: `unavailable` without CUPTI.
  static Result<std::unique_ptr<SpanClock>> create();

  struct Span {
    double ns = 0;
    int works = 0;  ///< kernels, copies and fills
    int gates = 0;  ///< more than one: a kernel under measurement bears the gate's name
  };
  /// What the device did since the last gate; all of it must have ended. Nothing when there was no
  /// gate. What was recorded so far is forgotten.
  Span take();

 private:
  struct Work {
    double start_ns;
    double end_ns;
    bool gate;
  };

  explicit SpanClock(const Cupti& cupti) : cupti_(cupti) {}
  void note(const CUpti_Activity& record);

  Cupti cupti_;
  std::vector<Work> works_;
  std::unique_ptr<ActivityRecorder> recorder_;  // last: it calls `note` until it is gone
};

}  // namespace ratchet::measure
