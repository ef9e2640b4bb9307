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
  bool host_time = false;  ///< wall time of call and synchronisation instead of device time
  double time_limit_ms = 1000;

  static constexpr void fields(auto&& visit) {
    using P = TimingPlan;
    visit(optional("warmup", &P::warmup, "Untimed calls first.", {.min = 0}),
          optional("samples", &P::samples, "", {.min = 1, .max = 1e6}),
          optional("cold", &P::cold, "Flush L2 before every sample."),
          optional("host_time", &P::host_time, "Wall time instead of device time."),
          optional("time_limit_ms", &P::time_limit_ms, "", {.min = 0}));
  }
};

/// Samples in launch order.
///
/// Flags: `launch_gap_included` - the call waits for the device itself, so that start, work and
/// stop could not be queued ahead and launch latency is part of the sample; `unsynchronised_work` -
/// work on other streams outlived the stop event, or `after` did not find the work, so that the
/// samples are not the whole call, and `work_outlived_…` or `outputs_missing` says which of
/// these it was; `timed_by_events` - CUPTI did not tell when the work ran, so that the samples are
/// those of events.
struct Sampled {
  std::vector<double> elapsed_ns;
  std::vector<double> clock_mhz;  ///< parallel to elapsed_ns, or empty when the device cannot tell
  std::vector<std::string> flags;
  bool time_limit_hit = false;
  bool by_events = true;               ///< else by the device's own stamps
  std::optional<std::string> failure;  ///< of the call; the samples before it are kept

  static constexpr void fields(auto&& visit) {
    using S = Sampled;
    visit(required("elapsed_ns", &S::elapsed_ns, ""), required("clock_mhz", &S::clock_mhz, ""),
          required("flags", &S::flags, ""), required("time_limit_hit", &S::time_limit_hit, ""),
          required("by_events", &S::by_events, ""), optional("failure", &S::failure, ""));
  }
};

/// Times calls on one GPU.
///
/// A sample: `before`, flush L2 (cold), close a gate in front of the whole context, queue start
/// event, call and stop event behind it, open the gate, wait, `after`. So neither launch latency
/// nor the host's speed is in a sample, and work on streams that do not wait for the legacy stream
/// cannot start early.
///
/// The time is the span of all that the device did for the call, on all streams, by its own stamps
/// (see SpanClock). The events beside it are the cross-check: a second one behind the work of all
/// streams shows what outlives the stop event. Where CUPTI does not work the events are the clock,
/// less the cost of an empty pair of them, and the samples are flagged.
///
/// A call that waits for the device cannot run behind the gate: a scouting call finds that out (the
/// gate lets go by itself after a time-out), and such calls are timed without it and flagged.
///
/// Thread rule: the thread of its `Gpu`, which outlives it. Each timer keeps 4 × L2 of device
/// memory.
class Timer {
 public:
  static Result<std::unique_ptr<Timer>> create(Gpu& gpu);

  /// Uses the turns in order, going on where the last `time` stopped.
  Result<Sampled> time(std::span<const Turn> rotation, const TimingPlan& plan);

  /// Forgets what scouting found; for when the calls become other calls.
  void forget() { synchronises_.reset(); }

  /// Cost of an empty event pair, ns.
  [[nodiscard]] double overhead_ns() const { return overhead_ns_; }

 private:
  /// One sample as it was taken.
  struct Shot {
    double elapsed_ns = 0;          ///< by events, or the host's clock
    std::optional<double> span_ns;  ///< by the span clock
    double tail_ns = 0;             ///< from the stop event to the end of all work
    bool gate_expired = false;      ///< the call did not return while the gate was closed
    bool work_is_there = true;
    std::optional<std::string> failure;
  };
  struct Events {
    Event start, stop, all;
  };

  Timer(Gpu& gpu, Flush flush, SmClock clock, Gate gate, Events events);
  Status read_clocks(Shot& shot);

  Status calibrate();
  Result<Shot> shoot(const Turn& turn, bool cold, bool gated, std::uint64_t gate_limit_ns);
  Result<Shot> shoot_host(const Turn& turn, bool cold);
  Result<Shot> scout(const Turn& turn, bool cold);
  Status warm_up(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled);
  Status take(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled);
  Result<Shot> sample(const Turn& turn, const TimingPlan& plan);
  const Turn& next(std::span<const Turn> rotation);

  Gpu& gpu_;
  Flush flush_;
  SmClock clock_;
  Gate gate_;
  Events events_;
  std::unique_ptr<SpanClock> spans_;  ///< null without CUPTI
  double overhead_ns_ = 0;
  std::vector<double> spans_ns_;  ///< of this block's samples, as long as all of them have one
  std::size_t turn_ = 0;
  std::optional<bool> synchronises_;
  std::vector<double> tails_ns_;  ///< of this block's samples
};

}  // namespace ratchet::measure
