#include "kernels/measure/timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "server/core/clock.h"

namespace ratchet::measure {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kSampleLimitNs = 100'000'000;
// Between the stop event and the event after all streams: 2 to 3 µs on an H200 when nothing else
// runs, plus the host's own latency (about 5 µs) when the call was not queued ahead.
constexpr double kBlockedTailNs = 6'000;
constexpr double kUnblockedTailNs = 40'000;
// A clock window of at least 1 ms keeps the cost of stamps to a few percent of the samples.
// Calls that a late end of a block's work has to recur in before it counts.
constexpr int kConfirming = 5;
constexpr auto kClockWindow = std::chrono::milliseconds(1);
constexpr auto kShortestClockWindow = std::chrono::microseconds(200);
constexpr int kCalibrationPairs = 64;
// A pair of empty events measures less than this, and any work measures more.
constexpr double kNothingNs = 700;
// Events normally measure more than the span of the work they enclose. If they measure less than
// half of it, most of the work ran on streams that the stop event did not wait for.
constexpr double kLeastSeen = 0.5;
// Reported for a call that does nothing on the legacy stream: times are positive.
constexpr double kLeastNs = 1;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_flag(Sampled& sampled, const char* flag) {
  if (std::find(sampled.flags.begin(), sampled.flags.end(), flag) == sampled.flags.end())
    sampled.flags.emplace_back(flag);
}

/// Assigns the window's clock to every sample since the previous window.
void close_window(Sampled& sampled, std::optional<double> clock) {
  sampled.clock_mhz.resize(sampled.elapsed_ns.size(),
                           clock.value_or(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Timer::Timer(Gpu& gpu, Flush flush, SmClock clock, StreamBlocker blocker, Events events)
    : gpu_(gpu),
      flush_(std::move(flush)),
      clock_(std::move(clock)),
      blocker_(std::move(blocker)),
      events_(std::move(events)) {}

Result<std::unique_ptr<Timer>> Timer::create(Gpu& gpu) {
  auto flush = Flush::create(gpu);
  if (!flush) return flush.error();
  auto clock = SmClock::create();
  if (!clock) return clock.error();
  auto blocker = StreamBlocker::create();
  if (!blocker) return blocker.error();
  auto start = Event::create(), stop = Event::create(), all = Event::create();
  for (const auto* event : {&start, &stop, &all})
    if (!*event) return event->error();
  std::unique_ptr<Timer> timer(
      new Timer(gpu, *std::move(flush), *std::move(clock), *std::move(blocker),
                Events{*std::move(start), *std::move(stop), *std::move(all)}));
  auto spans = SpanClock::create();
  if (spans) timer->spans_ = *std::move(spans);
  if (auto calibrated = timer->calibrate(); !calibrated) return calibrated.error();
  return timer;
}

Status Timer::calibrate() {
  const Turn nothing{[] {}, {}, {}};
  std::vector<double> pairs;
  for (int i = 0; i < kCalibrationPairs; ++i) {
    // Cold: the flush wakes an idle device, and the events follow other work, as in real samples.
    auto shot = shoot(nothing, true, true, kSampleLimitNs);
    if (!shot) return shot.error();
    if (shot->failure)
      return Error{ErrorCode::internal, "cannot calibrate the timer: " + *shot->failure};
    pairs.push_back(shot->elapsed_ns);
  }
  overhead_ns_ = median(std::move(pairs));
  return {};
}

Result<Timer::Shot> Timer::shoot(const Turn& turn, bool cold, bool blocked,
                                 std::uint64_t block_limit_ns) {
  if (turn.before) turn.before();
  if (cold)
    if (auto queued = flush_.queue(gpu_); !queued) return queued.error();
  if (auto queued = blocked ? blocker_.block(gpu_, block_limit_ns) : blocker_.mark(gpu_); !queued)
    return queued.error();
  if (!blocked)
    if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess)
      return cuda_error("cannot wait until the caches are flushed", error);
  cudaEventRecord(events_.start.get(), nullptr);
  turn.call();
  const auto stopping = SteadyClock::now();
  cudaEventRecord(events_.stop.get(), nullptr);
  const auto recorded = gpu_.driver().ctx_record_event(gpu_.context(), events_.all.get());
  const double between_ns = milliseconds_since(stopping) * 1e6;
  Shot shot;
  shot.block_expired = blocked && blocker_.expired();
  blocker_.release();
  shot.failure = gpu_.finish();
  if (shot.failure) return shot;
  if (recorded != CUDA_SUCCESS) {
    shot.failure =
        "the call left a stream in capture mode or made its context unusable (driver error " +
        std::to_string(static_cast<int>(recorded)) + ")";
    return shot;
  }
  if (auto read = read_clocks(shot); !read) return read.error();
  // A host that was busy between the two is no work of the call. Behind the blocker both wait.
  if (!blocked) shot.tail_ns = std::max(0.0, shot.tail_ns - between_ns);
  shot.work_is_there = !turn.after || turn.after();
  return shot;
}

Status Timer::read_clocks(Shot& shot) {
  const auto elapsed = elapsed_ns(events_.start, events_.stop);
  const auto tail = elapsed_ns(events_.stop, events_.all);
  if (!elapsed || !tail) return Error{ErrorCode::internal, "the timing events were not recorded"};
  shot.elapsed_ns = std::max(kLeastNs, *elapsed - overhead_ns_);
  shot.tail_ns = *tail;
  if (!spans_) return {};
  const auto span = spans_->take();
  if (span.blockers > 1)
    shot.failure = std::string("a kernel has the reserved name ") + kBlockerKernel + "; rename it";
  shot.tracing_ns = span.tracing_ns;
  if (span.works > 0) shot.span_ns = std::max(kLeastNs, span.ns);
  // The call did no work on the device.
  if (span.works == 0 && span.blockers == 1 && shot.elapsed_ns < kNothingNs)
    shot.span_ns = kLeastNs;
  return {};
}

Result<Timer::Shot> Timer::shoot_host(const Turn& turn, bool cold) {
  if (turn.before) turn.before();
  if (cold)
    if (auto queued = flush_.queue(gpu_); !queued) return queued.error();
  if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess)
    return cuda_error("cannot wait until the caches are flushed", error);
  Shot shot;
  const auto start = SteadyClock::now();
  turn.call();
  const auto error = cudaDeviceSynchronize();
  shot.elapsed_ns = milliseconds_since(start) * 1e6;
  shot.failure = gpu_.finish();
  if (!shot.failure && error != cudaSuccess) shot.failure = describe(error);
  if (!shot.failure) shot.work_is_there = !turn.after || turn.after();
  return shot;
}

Result<Timer::Shot> Timer::probe(const Turn& turn, bool cold) {
  // The first call may load code, which waits for the device, so it proves nothing.
  auto first = shoot(turn, cold, false, 0);
  if (!first || first->failure) return first;
  const bool hidden = first->tail_ns > kUnblockedTailNs;
  auto shot = shoot(turn, cold, true, kShortBlockNs);
  // Repeated before it counts: the host may have been busy.
  if (shot && !shot->failure && shot->block_expired) shot = shoot(turn, cold, true, kShortBlockNs);
  if (!shot || shot->failure) return shot;
  synchronizes_ = shot->block_expired;
  if (hidden) shot->tail_ns = std::max(shot->tail_ns, first->tail_ns);
  return shot;
}

const Turn& Timer::next(std::span<const Turn> rotation) {
  return rotation[turn_++ % rotation.size()];
}

Status Timer::warm_up(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled) {
  for (int i = 0; i < plan.warmup && !sampled.failure; ++i) {
    const auto& turn = next(rotation);
    if (turn.before) turn.before();
    turn.call();
    sampled.failure = gpu_.finish();
    // The memory of an untimed call is judged like that of others.
    if (!sampled.failure && turn.after) (void)turn.after();
  }
  if (sampled.failure || plan.host_time || synchronizes_) return {};
  auto probed = probe(next(rotation), plan.cold);
  if (!probed) return probed.error();
  sampled.failure = probed->failure;
  if (probed->tail_ns > kUnblockedTailNs) {
    add_flag(sampled, "unsynchronised_work");
    add_flag(sampled, "work_outlived_first_call");
  }
  return {};
}

Result<Timer::Shot> Timer::sample(const Turn& turn, const TimingPlan& plan) {
  if (plan.host_time) return shoot_host(turn, plan.cold);
  auto shot = shoot(turn, plan.cold, !*synchronizes_, kSampleLimitNs);
  if (!shot || shot->failure || !shot->block_expired) return shot;
  // The call waits for the device after all: from here on it is timed unblocked.
  synchronizes_ = true;
  return shoot(turn, plan.cold, false, 0);
}

Status Timer::take(std::span<const Turn> rotation, const TimingPlan& plan, Sampled& sampled) {
  const auto begin = SteadyClock::now();
  if (auto started = clock_.start(gpu_); !started) return started.error();
  auto window = SteadyClock::now();
  for (int i = 0; i < plan.samples; ++i) {
    if (i > 0 && milliseconds_since(begin) > plan.time_limit_ms) {
      sampled.time_limit_hit = true;
      break;
    }
    auto shot = sample(next(rotation), plan);
    if (!shot) return shot.error();
    sampled.failure = shot->failure;
    if (sampled.failure) return {};
    sampled.elapsed_ns.push_back(shot->elapsed_ns);
    sampled.tracing_ns = std::max(sampled.tracing_ns, shot->tracing_ns);
    if (shot->span_ns) spans_ns_.push_back(*shot->span_ns);
    tails_ns_.push_back(shot->tail_ns);
    if (!shot->work_is_there) {
      add_flag(sampled, "unsynchronised_work");
      add_flag(sampled, "outputs_missing");
    }
    if (SteadyClock::now() - window < kClockWindow) continue;
    auto clock = clock_.turn(gpu_);
    if (!clock) return clock.error();
    close_window(sampled, *clock);
    window = SteadyClock::now();
  }
  if (sampled.clock_mhz.size() == sampled.elapsed_ns.size()) return {};
  const bool too_short = SteadyClock::now() - window < kShortestClockWindow;
  if (too_short && !sampled.clock_mhz.empty()) {
    close_window(sampled, sampled.clock_mhz.back());
    return {};
  }
  if (too_short) return {};
  auto clock = clock_.turn(gpu_);
  if (!clock) return clock.error();
  close_window(sampled, *clock);
  return {};
}

bool Timer::late(const std::vector<double>& tails_ns) const {
  return median(tails_ns) > (*synchronizes_ ? kUnblockedTailNs : kBlockedTailNs);
}

Status Timer::confirm_late(std::span<const Turn> rotation, const TimingPlan& plan,
                           Sampled& sampled) {
  std::vector<double> again;
  for (int i = 0; i < kConfirming; ++i) {
    auto shot = sample(next(rotation), plan);
    if (!shot) return shot.error();
    sampled.failure = shot->failure;
    if (sampled.failure) return {};
    again.push_back(shot->tail_ns);
  }
  tails_ns_ = std::move(again);
  return {};
}

Result<Sampled> Timer::time(std::span<const Turn> rotation, const TimingPlan& plan) {
  if (rotation.empty() || plan.samples < 1)
    return invalid_argument("nothing to time: zero calls or zero samples were requested");
  Sampled sampled;
  turn_ = 0;
  tails_ns_.clear();
  spans_ns_.clear();
  if (auto warmed = warm_up(rotation, plan, sampled); !warmed) return warmed.error();
  if (sampled.failure) return sampled;
  if (auto taken = take(rotation, plan, sampled); !taken) return taken.error();
  const bool known = std::none_of(sampled.clock_mhz.begin(), sampled.clock_mhz.end(),
                                  [](double clock) { return std::isnan(clock); });
  if (!known || sampled.clock_mhz.size() != sampled.elapsed_ns.size()) sampled.clock_mhz.clear();
  if (plan.host_time || sampled.elapsed_ns.empty()) return sampled;
  // All samples of a block use the same clock.
  sampled.by_events = spans_ns_.size() != sampled.elapsed_ns.size();
  bool missed = false;
  if (sampled.by_events) {
    add_flag(sampled, "timed_by_events");
  } else {
    const double span = median(spans_ns_);
    const double seen = median(sampled.elapsed_ns);
    missed = seen < kLeastSeen * span && span - seen > kNothingNs;
    sampled.elapsed_ns.swap(spans_ns_);
  }
  if (*synchronizes_) add_flag(sampled, "launch_gap_included");
  // The median, and once more: delays of the host must not flag a block, however few its samples,
  // and to gain anything a cheat has to hide work in most calls.
  if (!missed && late(tails_ns_))
    if (auto confirmed = confirm_late(rotation, plan, sampled); !confirmed || sampled.failure)
      return confirmed ? Result<Sampled>(std::move(sampled)) : confirmed.error();
  if (missed || late(tails_ns_)) {
    add_flag(sampled, "unsynchronised_work");
    add_flag(sampled, "work_outlived_stop_event");
  }
  return sampled;
}

}  // namespace ratchet::measure
