#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

/// Launches and duration of one call, observed without counters.
struct CallSpan {
  int launches = 0;
  double span_ns = 0;  ///< first start to last end, over all streams
};

struct CounterReport {
  std::vector<LaunchCounters> kernels;  ///< one per launch in order, at most 64; or one per call
  std::vector<Launch> launches;         ///< all launches
  std::vector<CallSpan> calls;          ///< several calls, observed without counters
  std::vector<std::string> unknown_metrics;
  std::string engine = "cupti";  ///< or none
  std::string cache = "flushed";
  std::optional<std::string> together;     ///< why the launches were counted as one
  std::optional<std::string> unavailable;  ///< why there are no hardware counters, with a remedy
  std::optional<std::string> failure;      ///< the call's own failure
};

inline constexpr std::size_t kMostCountedLaunches = 64;

/// DRAM bytes that a whole call reads, counted once, after the very flush of a timed sample: of a
/// call on memory that earlier calls took turns on, and of the first call on memory that the
/// process has not touched, so that nothing of it can be in a cache.
inline constexpr const char* kReadWhenTimed = "dram_read_when_timed.bytes";
inline constexpr const char* kReadWhenNew = "dram_read_when_new.bytes";

struct CounterPlan;

/// Reads hardware counters of every kernel of one call (CUPTI Range Profiler, one range per
/// kernel).
///
/// Launches that cannot be separated are counted as one: nodes of a CUDA graph, concurrent kernels
/// on several streams (serialized, they could deadlock), and calls of more than 1,024 launches.
///
/// A chip counts only a few metrics at a time, so the call is repeated once per pass, each time
/// after `before`. L2 is flushed while the counters run, right before the call, because starting
/// the counters leaves dirty lines (on an H200 a softmax appeared to write 68 MB instead of 39 MB).
/// Starting them also seems to evict address translations, so the call's pages are touched after
/// the flush (a copy took 31.8 µs without this, 31.1 µs with it, 31.2 µs under ncu). Every pass
/// therefore starts in the state of a cold timing sample: the first kernel finds a cold cache,
/// later kernels find what their predecessors left. The driver's own kernel replay would restore
/// memory between passes and leave the caches in an undefined state.
///
/// A call whose launches differ between repetitions cannot be counted; the report says so.
///
/// Thread rule: the thread of its `Gpu`. Counters are exclusive: ncu must not run at the same time.
/// A process that has counted must not time anything.
class Counters {
 public:
  /// Errors: `unavailable` when CUPTI is missing or does not know the device.
  static Result<std::unique_ptr<Counters>> create(Gpu& gpu);

  /// Counts the first turn of the rotation. The last one must not have been called yet: where there
  /// are others, `kReadWhenTimed` and `kReadWhenNew` are added to the first kernel's metrics.
  Result<CounterReport> count(std::span<const Turn> rotation,
                              const std::vector<std::string>& metrics);

  /// Samples the program counters of `calls` cold calls every 2^`period_log2` cycles. The process
  /// must not have launched any of the call's kernels yet; see PcSampler. A lack of samples is not
  /// an error: `unavailable` says why. `failure` is the call's own.
  struct SampleReport {
    PcSamples samples;
    int calls = 0;
    std::optional<std::string> unavailable;
    std::optional<std::string> failure;
  };
  Result<SampleReport> sample(const Turn& turn, unsigned period_log2, int calls);

  /// Launches of one call on a cold cache, without counters. The call is queued behind a stream
  /// blocker, so the span from the first start to the last end contains no launch gaps (unless the
  /// call waits for the device).
  Result<Observed> observe_cold(const Turn& turn);

 private:
  Counters(Gpu& gpu, Cupti cupti, Flush flush, StreamBlocker blocker)
      : gpu_(gpu), cupti_(cupti), flush_(std::move(flush)), blocker_(std::move(blocker)) {}

  /// Stores launches and spans of several calls in the report. Returns whether the last two calls
  /// launched the same kernels.
  Result<bool> observe_calls(const Turn& turn, CounterReport& report);
  /// Returns failures of the counters; failures of the call are stored in the report.
  std::optional<ProfilerFailure> read_counters(const Turn& turn, CounterPlan& plan,
                                               CounterReport& report);
  /// Whether calls find anything in the caches that was left by calls before the flush.
  void compare_reads(std::span<const Turn> rotation, CounterReport& report);
  /// DRAM bytes that a call reads after the flush of a timed sample, in a single pass. Empty if the
  /// call fails or cannot be counted.
  std::optional<double> dram_read(const Turn& turn, CounterPlan& plan);

  Gpu& gpu_;
  Cupti cupti_;
  Flush flush_;
  StreamBlocker blocker_;
};

}  // namespace ratchet::measure
