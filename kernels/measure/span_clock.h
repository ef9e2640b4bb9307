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
///
/// Recording takes part in calls of several works: `kTracedLaunchNs` for each, `kTracedNodeNs` for
/// each kernel of a graph, on an H200 against events in a program without CUPTI
/// (tests/gpu/results/instrument.md). Copies and memsets count as launches; theirs was not
/// measured.
class SpanClock {
 public:
  static constexpr double kTracedLaunchNs = 220;
  static constexpr double kTracedNodeNs = 460;

  /// Errors: `unavailable` without CUPTI.
  static Result<std::unique_ptr<SpanClock>> create();

  struct Span {
    double ns = 0;
    double tracing_ns = 0;  ///< what recording may have added; 0 for a single work
    int works = 0;          ///< kernels, copies and memsets
    int blockers = 0;       ///< more than one: a kernel under measurement has the blocker's name
  };
  /// Work of the device since the blocker's kernel; all of it must have finished. Empty when there
  /// was no such kernel. Clears the records.
  Span take();

 private:
  struct Work {
    double start_ns;
    double end_ns;
    bool blocker;
    bool in_graph;
  };

  explicit SpanClock(const Cupti& cupti) : cupti_(cupti) {}
  void note(const CUpti_Activity& record);

  Cupti cupti_;
  std::vector<Work> works_;
  std::unique_ptr<ActivityRecorder> recorder_;  // last: it calls `note` until it is gone
};

}  // namespace ratchet::measure
