#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/measure/device/flush.h"
#include "kernels/measure/device/gpu.h"
#include "kernels/measure/device/sm_clock.h"
#include "kernels/measure/device/stream_blocker.h"
#include "kernels/measure/span_clock.h"

namespace ratchet::measure {

struct TimingPlan {
  int warmup = 0;
  int samples = 1;
  bool cold = true;        ///< L2 flushed before every sample
  bool host_time = false;  ///< wall time of call and synchronization instead of device time
  double time_limit_ms = 1000;
};

/// Samples in launch order.
///
/// Flags:
///   `launch_gap_included`   the call waits for the device, so start, work and stop could not be
///                           queued ahead and launch latency is part of the sample;
///   `unsynchronised_work`   work on other streams outlived the stop event, or `after` found
///   outputs
///                           missing, so the samples do not cover the whole call;
///                           `work_outlived_…` or `outputs_missing` says which;
///   `timed_by_events`       CUPTI did not report when the work ran; the samples are event times.
struct Sampled {
  std::vector<double> elapsed_ns;
  std::vector<double> clock_mhz;  ///< parallel to elapsed_ns, or empty when the device cannot tell
  std::vector<std::string> flags;
  bool time_limit_hit = false;
  bool by_events = true;               ///< false: by the device's own timestamps
  double tracing_ns = 0;               ///< most that recording may have added to a sample
  std::optional<std::string> failure;  ///< of the call; samples before it are kept
};

/// Times calls on one GPU.
///
/// A sample: `before`, flush L2 (cold), block all streams of the context, queue start event, call
/// and stop event, release the streams, wait, `after`. So a sample contains neither launch latency
/// nor host time, and work on streams that do not wait for the legacy stream cannot start early.
///
/// The time is the span of all device work of the call, on all streams, by the device's timestamps
/// (see SpanClock). Events are recorded as a cross-check: one more, after the work of all streams,
/// shows what outlives the stop event. Where CUPTI does not work, the events are the clock, minus
/// the cost of an empty pair, and the samples are flagged.
///
/// A call that waits for the device cannot run behind the blocker: a probing call detects this (the
/// blocker releases the streams after a time limit), and such calls are timed unblocked and
/// flagged.
///
/// Thread rule: the thread of its `Gpu`, which must outlive it. Each timer holds 4 × L2 of device
/// memory.
class Timer {
 public:
  static Result<std::unique_ptr<Timer>> create(Gpu& gpu);

  /// Uses the turns in order, from the first on.
  Result<Sampled> time(std::span<const Turn> rotation, const TimingPlan& plan);

  /// Discards the result of probing; to be called when a different kind of call follows.
  void forget() { synchronizes_.reset(); }

  /// Cost of an empty event pair, ns.
  [[nodiscard]] double overhead_ns() const { return overhead_ns_; }

 private:
  /// One raw sample.
  struct Shot {
    double elapsed_ns = 0;          ///< by events, or the host's clock
    std::optional<double> span_ns;  ///< by the span clock
    double tracing_ns = 0;          ///< see SpanClock
    double tail_ns = 0;             ///< from the stop event to the end of all work
    bool block_expired = false;     ///< the call did not return while the streams were blocked
    bool work_is_there = true;
    std::optional<std::string> failure;
  };
  struct Events {
    Event start, stop, all;
  };

  Timer(Gpu& gpu, Flush flush, SmClock clock, StreamBlocker blocker, Events events);
  Status read_clocks(Shot& shot);

  Status calibrate();
  Result<Shot> shoot(const Turn& turn, bool cold, bool blocked, std::uint64_t block_limit_ns);
  Result<Shot> shoot_host(const Turn& turn, bool cold);
  /// Finds out whether the call waits for the device.
  Result<Shot> probe(const Turn& turn, bool cold);
  Status warm_up(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled);
  Status take(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled);
  Result<Shot> sample(const Turn& turn, const TimingPlan& plan);
  /// Whether work outlived the stop event in most of these calls.
  [[nodiscard]] bool late(const std::vector<double>& tails_ns) const;
  /// Replaces the block's tails by those of further calls.
  Status confirm_late(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled);
  const Turn& next(std::span<const Turn> rotation);

  Gpu& gpu_;
  Flush flush_;
  SmClock clock_;
  StreamBlocker blocker_;
  Events events_;
  std::unique_ptr<SpanClock> spans_;  ///< null without CUPTI
  double overhead_ns_ = 0;
  std::vector<double> spans_ns_;  ///< this block's samples, those that have a span
  std::size_t turn_ = 0;
  std::optional<bool> synchronizes_;  ///< whether the call waits for the device; empty: not probed
  std::vector<double> tails_ns_;      ///< this block's samples
};

}  // namespace ratchet::measure
