#include "kernels/measure/counters.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "kernels/measure/cupti/range_profiler.h"
#include "kernels/measure/launch_metrics.h"

namespace ratchet::measure {
namespace {

/// Metrics that ncu derives from the launch configuration rather than from hardware counters.
bool is_launch_metric(const std::string& name) {
  return name.starts_with("launch__") || name.starts_with("sm__maximum_warps_");
}

std::string explained(const ProfilerFailure& failure) {
  if (!failure.permission) return failure.message;
  return "the driver does not allow this user to read hardware counters (" + failure.message +
         "). " + how_to_grant_counters();
}

void without_counters(CounterReport& report, const ProfilerFailure& failure) {
  report.engine = "none";
  report.together.reset();
  report.unavailable = explained(failure);
}

/// Starts the report: one entry per launch with the metrics that need no counters.
void add_launches(CounterReport& report, const cudaDeviceProp& device) {
  for (const auto& launch : report.launches) {
    if (report.kernels.size() == kMostCountedLaunches) break;
    report.kernels.push_back({launch.kernel, launch_metrics(launch, device)});
  }
}

// The flush and the page touch before the call are kernels too.
constexpr std::size_t kOwnRanges = 2;
// Room for unexpected launches, so that they show up as a wrong count.
constexpr std::size_t kSpareRanges = 4;
constexpr std::size_t kMostRanges = 1024;  // a range takes kilobytes and a share of each pass

bool add_values(LaunchCounters& kernel, MetricHost& host, const RangeProfiler& profiler,
                std::size_t range, const std::vector<std::string>& names) {
  const auto values = host.evaluate(profiler.image(), range, names);
  if (!values) return false;
  for (std::size_t n = 0; n < names.size(); ++n)
    if (std::isfinite((*values)[n])) kernel.metrics[names[n]] = (*values)[n];
  return true;
}

bool overlap_across_streams(const std::vector<Launch>& launches) {
  std::vector<const Launch*> by_start;
  by_start.reserve(launches.size());
  for (const auto& launch : launches) by_start.push_back(&launch);
  std::ranges::sort(by_start, {}, &Launch::start_ns);
  const Launch* longest = nullptr;
  for (const auto* launch : by_start) {
    if (longest && launch->stream != longest->stream && launch->start_ns < longest->end_ns)
      return true;
    if (!longest || launch->end_ns > longest->end_ns) longest = launch;
  }
  return false;
}

/// Metrics counted by patching the kernels' code, which serializes the kernels.
bool counted_by_patching(const std::string& name) {
  return name.find("__sass_") != std::string::npos;
}

/// Why these launches cannot be counted separately; empty when they can.
std::optional<std::string> reason_to_count_together(const std::vector<Launch>& launches,
                                                    bool overlapping) {
  if (std::ranges::any_of(launches, &Launch::in_graph))
    return "the counters see the nodes of a CUDA graph as one piece of work";
  if (overlapping) return "kernels of several streams run at the same time";
  if (launches.size() > kMostRanges)
    return "at most " + std::to_string(kMostRanges) + " launches can be counted separately";
  return std::nullopt;
}

/// All launches as one kernel, with the launch metrics on which they agree.
LaunchCounters whole_call(const std::vector<Launch>& launches, const cudaDeviceProp& device) {
  LaunchCounters whole{"whole call (" + std::to_string(launches.size()) + " launches)",
                       launch_metrics(launches.front(), device)};
  for (const auto& launch : launches) {
    const auto facts = launch_metrics(launch, device);
    std::erase_if(whole.metrics, [&](const auto& fact) {
      const auto same = facts.find(fact.first);
      return same == facts.end() || same->second != fact.second;
    });
  }
  return whole;
}

/// The metrics that the hardware counts, without duplicates.
std::vector<std::string> counted_names(const std::vector<std::string>& metrics) {
  std::vector<std::string> names;
  for (const auto& name : metrics)
    if (!is_launch_metric(name) && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

/// Adds requested launch metrics that cannot be derived to the unknown metrics.
void note_unknown_facts(const std::vector<std::string>& metrics, CounterReport& report) {
  for (const auto& name : metrics)
    if (is_launch_metric(name) && !report.kernels.empty() &&
        !report.kernels.front().metrics.contains(name))
      report.unknown_metrics.push_back(name);
}

bool same_launches(const std::vector<Launch>& a, const std::vector<Launch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Launch& x, const Launch& y) { return x.kernel == y.kernel; });
}

// Enough to notice a call that does the work of several others.
constexpr int kObservedCalls = 8;

CallSpan span_of(const std::vector<Launch>& launches) {
  if (launches.empty()) return {};
  const auto first = std::ranges::min_element(launches, {}, &Launch::start_ns);
  const auto last = std::ranges::max_element(launches, {}, &Launch::end_ns);
  return {static_cast<int>(launches.size()), last->end_ns - first->start_ns};
}

double median_span(std::vector<CallSpan> calls) {
  const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2);
  std::ranges::nth_element(calls, middle, {}, &CallSpan::span_ns);
  return middle->span_ns;
}

/// A range around a whole call includes the host's launch time under the counters: 54 of 121 µs for
/// a graph of two kernels on an H200. Replaces the range's duration by the call's span and rescales
/// rates to it.
void leave_out_idle(std::map<std::string, double>& metrics, double span_ns) {
  const auto duration = metrics.find("gpu__time_duration.sum");
  if (duration == metrics.end() || duration->second <= 0) return;
  const double share = span_ns / duration->second;
  for (auto& [name, value] : metrics) {
    const bool rate = name.ends_with(".per_second") || name.ends_with("_elapsed");
    const bool time = name.find("__time_duration.") != std::string::npos ||
                      name.find("__cycles_elapsed.") != std::string::npos;
    if (rate && !time) value /= share;
    if (time && !rate) value *= share;  // cycles per second are the clock: not rescaled
  }
}

constexpr const char* kChanging =
    "the launches differ from call to call, so counters of different passes cannot be combined: "
    "launch the same kernels in every call, or use engine ncu, which replays each kernel by itself";

}  // namespace

/// The metrics, their schedule in passes, and the object that evaluates them. CUPTI evaluates only
/// what the same object has scheduled, so a plan cannot be reused for another call.
struct CounterPlan {
  CounterPlan(const Cupti& cupti, const Gpu& gpu, MetricHost::Counters counters,
              const std::vector<std::string>& asked)
      : host(cupti, gpu, counters) {
    if (host.failure()) return;
    names = host.known(asked, unknown);
    if (!names.empty()) image = host.configure(names);
  }

  MetricHost host;
  std::vector<std::string> unknown;
  std::vector<std::string> names;
  std::vector<std::byte> image;
};

Result<std::unique_ptr<Counters>> Counters::create(Gpu& gpu) {
  auto cupti = Cupti::load();
  if (!cupti) return cupti.error();
  auto flush = Flush::create(gpu);
  if (!flush) return flush.error();
  auto blocker = StreamBlocker::create();
  if (!blocker) return blocker.error();
  return std::unique_ptr<Counters>(
      new Counters(gpu, *cupti, *std::move(flush), *std::move(blocker)));
}

Result<Observed> Counters::observe_cold(const Turn& turn) {
  if (turn.before) turn.before();
  if (auto queued = flush_.queue(gpu_); !queued) return queued.error();
  if (auto failure = gpu_.finish()) return Observed{{}, std::move(failure)};
  const auto blocked_call = [&] {
    const auto blocked = blocker_.block(gpu_, kShortBlockNs);
    turn.call();
    if (blocked) blocker_.release();
  };
  auto observed = observe(gpu_, cupti_, blocked_call);
  if (observed && !observed->launches.empty() &&
      observed->launches.front().kernel == kBlockerKernel)
    observed->launches.erase(observed->launches.begin());
  return observed;
}

Result<Counters::SampleReport> Counters::sample(const Turn& turn, unsigned period_log2, int calls) {
  SampleReport report;
  PcSampler sampler(cupti_, gpu_);
  if (const auto failure = sampler.open(period_log2)) {
    report.unavailable = explained(*failure);
    return report;
  }
  const auto work = [&] {
    turn.call();
    report.failure = gpu_.finish();
    return !report.failure;
  };
  for (; report.calls < calls; ++report.calls) {
    if (turn.before) turn.before();
    if (auto queued = flush_.queue(gpu_); !queued) return queued.error();
    report.failure = gpu_.finish();
    if (report.failure) return report;
    const auto failure = sampler.sample(work);
    if (report.failure) return report;
    if (failure) {
      report.unavailable = explained(*failure);
      return report;
    }
  }
  report.samples = sampler.samples();
  if (report.samples.pcs.empty())
    report.unavailable = "the device returned no samples: the call is too short to be sampled";
  return report;
}

Result<CounterReport> Counters::count(std::span<const Turn> rotation,
                                      const std::vector<std::string>& metrics) {
  using Of = MetricHost::Counters;
  const Turn& turn = rotation.front();
  CounterReport report;
  auto asked = counted_names(metrics);
  // Planning takes up to 150 ms, so it runs while the calls are observed.
  std::unique_ptr<CounterPlan> plan;
  std::jthread planning([&] {
    if (!asked.empty()) plan = std::make_unique<CounterPlan>(cupti_, gpu_, Of::of_chip, asked);
  });
  const auto steady = observe_calls(turn, report);
  if (!steady) return steady.error();
  planning.join();
  if (report.failure) return report;
  note_unknown_facts(metrics, report);
  if (report.launches.empty()) {
    without_counters(report, {"the call launches no kernel on this device, so there is nothing to "
                              "count: the work must run in a kernel"});
    return report;
  }
  if (asked.empty()) return report;
  if (!*steady) {
    without_counters(report, {kChanging});
    return report;
  }
  const bool overlapping = overlap_across_streams(report.launches);
  report.together = reason_to_count_together(report.launches, overlapping);
  if (overlapping && std::erase_if(asked, counted_by_patching) > 0) {
    *report.together += "; metrics named __sass_ would serialize the kernels and are left out";
    plan = std::make_unique<CounterPlan>(cupti_, gpu_, Of::of_chip, asked);
  }
  auto failure = read_counters(turn, *plan, report);
  if (failure && !failure->permission) {
    plan = std::make_unique<CounterPlan>(cupti_, gpu_, Of::asked_for, asked);
    failure = read_counters(turn, *plan, report);
  }
  report.unknown_metrics.insert(report.unknown_metrics.end(), plan->unknown.begin(),
                                plan->unknown.end());
  if (failure) without_counters(report, *failure);
  if (!report.unavailable && !report.failure) compare_reads(rotation, report);
  return report;
}

void Counters::compare_reads(std::span<const Turn> rotation, CounterReport& report) {
  constexpr int kCycles = 2;
  if (rotation.size() < 2 || report.kernels.empty()) return;
  CounterPlan plan(cupti_, gpu_, MetricHost::Counters::of_chip, {"dram__bytes_read.sum"});
  if (plan.host.failure() || plan.names.empty()) return;
  const auto earlier = rotation.first(rotation.size() - 1);
  for (int i = 0; i < kCycles; ++i)
    for (const auto& turn : earlier) {
      const auto seen = observe_cold(turn);
      if (!seen || seen->failure) return;
    }
  const auto timed = dram_read(earlier.front(), plan);
  const auto fresh = timed ? dram_read(rotation.back(), plan) : std::nullopt;
  if (!fresh) return;
  report.kernels.front().metrics[kReadWhenTimed] = *timed;
  report.kernels.front().metrics[kReadWhenNew] = *fresh;
}

std::optional<double> Counters::dram_read(const Turn& turn, CounterPlan& plan) {
  const auto before = [&] {
    if (turn.before) turn.before();
    return cudaDeviceSynchronize() == cudaSuccess;
  };
  const auto ready = [&] { return flush_.queue(gpu_) && gpu_.touch(turn.memory); };
  const auto work = [&] {
    turn.call();
    return !gpu_.finish();
  };
  RangeProfiler profiler(cupti_, gpu_, RangeProfiler::Ranges::call);
  if (profiler.profile(plan.names, plan.image, 1, {before, ready, work})) return std::nullopt;
  if (profiler.ranges() != 1 || profiler.passes() != 1) return std::nullopt;
  const auto values = plan.host.evaluate(profiler.image(), 0, plan.names);
  if (!values || !std::isfinite(values->front())) return std::nullopt;
  return values->front();
}

Result<bool> Counters::observe_calls(const Turn& turn, CounterReport& report) {
  // The first call loads the kernels' code and is not representative.
  std::vector<Launch> earlier;
  for (int i = 0; i <= kObservedCalls; ++i) {
    auto observed = observe_cold(turn);
    if (!observed) return observed.error();
    earlier = std::exchange(report.launches, std::move(observed->launches));
    report.failure = observed->failure;
    if (report.failure) return false;
    if (i > 0) report.calls.push_back(span_of(report.launches));
  }
  add_launches(report, gpu_.properties());
  return same_launches(earlier, report.launches);
}

std::optional<ProfilerFailure> Counters::read_counters(const Turn& turn, CounterPlan& plan,
                                                       CounterReport& report) {
  if (plan.host.failure()) return plan.host.failure();
  if (plan.names.empty()) return std::nullopt;
  const auto before = [&] {
    if (turn.before) turn.before();
    return flush_.take_back().has_value() && cudaDeviceSynchronize() == cudaSuccess;
  };
  using Ranges = RangeProfiler::Ranges;
  const bool together = report.together.has_value();
  const auto ready = [&] {
    return flush_.queue_read(gpu_) && gpu_.touch(turn.memory) && flush_.give_back();
  };
  const auto work = [&] {
    turn.call();
    report.failure = gpu_.finish();
    return !report.failure;
  };
  const std::size_t own = together ? 0 : kOwnRanges;
  const std::size_t expected = own + (together ? 1 : report.launches.size());
  RangeProfiler profiler(cupti_, gpu_, together ? Ranges::call : Ranges::kernels);
  auto failure = profiler.profile(plan.names, plan.image, expected + (together ? 0 : kSpareRanges),
                                  {before, ready, work});
  if (report.failure) return std::nullopt;
  if (failure) return failure;
  if (const auto seen = profiler.ranges(); seen != expected) {
    without_counters(report, {std::string(kChanging) + " (" + std::to_string(seen) +
                              " ranges counted, " + std::to_string(expected) + " expected)"});
    return std::nullopt;
  }
  auto kernels =
      together ? std::vector{whole_call(report.launches, gpu_.properties())} : report.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (!add_values(kernels[i], plan.host, profiler, own + i, plan.names))
      return ProfilerFailure{"CUPTI cannot compute the metrics from the counters"};
  if (together) leave_out_idle(kernels.front().metrics, median_span(report.calls));
  report.kernels = std::move(kernels);
  return std::nullopt;
}

}  // namespace ratchet::measure
