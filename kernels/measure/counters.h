#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/measure/cupti/activity.h"
#include "kernels/measure/cupti/pc_sampler.h"
#include "kernels/measure/cupti/range_profiler.h"
#include "kernels/measure/device/flush.h"
#include "kernels/measure/device/stream_blocker.h"

namespace ratchet::measure {

/// Metrics of one launch, by the names that ncu uses.
struct LaunchCounters {
  std::string kernel;
  std::map<std::string, double> metrics;
};

/// One call seen from outside.
struct CallSpan {
  int launches = 0;
  double span_ns = 0;  ///< first start to last end, over all streams
};

struct CounterReport {
  std::vector<LaunchCounters> kernels;  ///< one per launch in order, at most 64; or one of the call
  std::vector<Launch> launches;         ///< all of them
  std::vector<CallSpan> calls;          ///< of several calls, without counters
  std::vector<std::string> unknown_metrics;
  std::string engine = "cupti";  ///< or none
  std::string cache = "flushed";
  std::optional<std::string> together;     ///< why the launches were counted as one
  std::optional<std::string> unavailable;  ///< why there are no hardware counters, and the way on
  std::optional<std::string> failure;      ///< of the call
};

inline constexpr std::size_t kMostCountedLaunches = 64;

struct CounterPlan;

/// Reads hardware counters of every kernel of one call (CUPTI Range Profiler, one range a kernel).
///
/// Launches that cannot be told apart are counted as one: those of a CUDA graph, those of several
/// streams that run at the same time (one after another they might wait for each other for ever),
/// and more than 1,024.
///
/// A chip counts a few things at a time, so the call is repeated once per pass, `before` in front
/// of it. L2 is flushed under the counters, right before the call: starting the counters leaves
/// dirty lines (seen on an H200: 68 MB written to memory instead of 39 MB by a softmax). It also
/// seems to forget where pages lie, so those of the call are touched after the flush (a copy took
/// 31.8 µs without that, 31.1 µs with it, 31.2 µs under ncu). So every pass has the state of a cold
/// timing sample: the first kernel finds a cold cache, later ones what their predecessors left. The
/// driver's own kernel replay would restore memory between passes and leave the caches to chance.
///
/// A call whose launches differ between repetitions cannot be counted; the report says so.
///
/// Thread rule: the thread of its `Gpu`. Counters are exclusive: no ncu beside it. Nothing that is
/// timed may run in a process that has counted.
class Counters {
 public:
  /// Errors: `unavailable` when CUPTI is missing or does not know the device.
  static Result<std::unique_ptr<Counters>> create(Gpu& gpu);

  Result<CounterReport> count(const Turn& turn, const std::vector<std::string>& metrics);

  /// Samples where the warps of `calls` cold calls stand, every 2^`period_log2` cycles. In a
  /// process that has launched nothing of the call yet; see PcSampler. No samples are not an error:
  /// `unavailable` says why, `failure` is the call's.
  struct SampleReport {
    PcSamples samples;
    int calls = 0;
    std::optional<std::string> unavailable;
    std::optional<std::string> failure;
  };
  Result<SampleReport> sample(const Turn& turn, unsigned period_log2, int calls);

  /// Launches of one call on a cold cache, without counters. Queued behind a gate, so that the
  /// span from the first start to the last end holds no launch gaps (unless the call waits for the
  /// device).
  Result<Observed> observe_cold(const Turn& turn);

 private:
  Counters(Gpu& gpu, Cupti cupti, Flush flush, Gate gate)
      : gpu_(gpu), cupti_(cupti), flush_(std::move(flush)), gate_(std::move(gate)) {}

  /// Puts launches and spans of several calls into the report. Whether the last two launched the
  /// same.
  Result<bool> observe_calls(const Turn& turn, CounterReport& report);
  /// Fails for reasons that lie in the counters; those of the call are in the report.
  std::optional<ProfilerFailure> read_counters(const Turn& turn, CounterPlan& plan,
                                               CounterReport& report);

  Gpu& gpu_;
  Cupti cupti_;
  Flush flush_;
  Gate gate_;
};

}  // namespace ratchet::measure
