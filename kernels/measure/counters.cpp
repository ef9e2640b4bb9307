#include "kernels/measure/counters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <utility>

#include "kernels/measure/launch_metrics.h"
#include "kernels/measure/range_profiler.h"

namespace ratchet::measure {
namespace {

/// Names that ncu derives from the launch; the hardware does not count them.
bool is_launch_metric(const std::string& name) {
  return name.starts_with("launch__") || name.starts_with("sm__maximum_warps_");
}

std::string explained(const ProfilerFailure& failure) {
  if (!failure.permission) return failure.message;
  return "the driver does not permit hardware counters to this user (" + failure.message + "). " +
         how_to_grant_counters();
}

void without_counters(CounterReport& report, const ProfilerFailure& failure) {
  report.engine = "none";
  report.unavailable = explained(failure);
}

/// Starts the report: one entry per launch with what is known without counters.
void add_launches(CounterReport& report, const cudaDeviceProp& device) {
  for (const auto& launch : report.launches) {
    if (report.kernels.size() == kMostCountedLaunches) break;
    report.kernels.push_back({launch.kernel, launch_metrics(launch, device)});
  }
}

// The flush and the touch in front of the call are kernels, too.
constexpr std::size_t kOwnRanges = 2;
// Room for launches that were not seen before, so that they show as a wrong count.
constexpr std::size_t kSpareRanges = 4;
constexpr std::size_t kMostRanges = 1024;  // a range takes kilobytes, a pass its share of a second

bool add_values(CounterReport& report, MetricHost& host, const RangeProfiler& profiler,
                const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    const auto values = host.evaluate(profiler.image(), kOwnRanges + i, names);
    if (!values) return false;
    for (std::size_t n = 0; n < names.size(); ++n)
      if (std::isfinite((*values)[n])) report.kernels[i].metrics[names[n]] = (*values)[n];
  }
  return true;
}

/// The metrics that hardware counts, each once.
std::vector<std::string> counted_names(const std::vector<std::string>& metrics) {
  std::vector<std::string> names;
  for (const auto& name : metrics)
    if (!is_launch_metric(name) && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

/// Facts of a launch that were asked for and cannot be derived.
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

// Enough that a call which does the work of a few others is seen beside them.
constexpr int kObservedCalls = 8;

CallSpan span_of(const std::vector<Launch>& launches) {
  if (launches.empty()) return {};
  const auto first = std::ranges::min_element(launches, {}, &Launch::start_ns);
  const auto last = std::ranges::max_element(launches, {}, &Launch::end_ns);
  return {static_cast<int>(launches.size()), last->end_ns - first->start_ns};
}

constexpr const char* kChanging =
    "the launches differ from call to call, so that counters of one pass do not fit those of the "
    "next";

}  // namespace

/// What is counted, in which passes, and how values are made of it. CUPTI evaluates only what the
/// same object has scheduled: nothing is kept for a next call.
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
  auto gate = Gate::create();
  if (!gate) return gate.error();
  return std::unique_ptr<Counters>(new Counters(gpu, *cupti, *std::move(flush), *std::move(gate)));
}

Result<Observed> Counters::observe_cold(const Turn& turn) {
  if (turn.before) turn.before();
  if (auto queued = flush_.queue(gpu_); !queued) return queued.error();
  if (auto failure = gpu_.finish()) return Observed{{}, std::move(failure)};
  const auto gated = [&] {
    const auto closed = gate_.close(gpu_, kQuickGateNs);
    turn.call();
    if (closed) gate_.open();
  };
  auto observed = observe(gpu_, cupti_, gated);
  if (observed && !observed->launches.empty() && observed->launches.front().kernel == kGateKernel)
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
    report.unavailable = "the device returned no samples: the call is too short for them";
  return report;
}

Result<CounterReport> Counters::count(const Turn& turn, const std::vector<std::string>& metrics) {
  using Of = MetricHost::Counters;
  CounterReport report;
  const auto asked = counted_names(metrics);
  // Up to 150 ms of computing, beside the calls that are only looked at.
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
    without_counters(report, {"the call launches no kernel on this device"});
    return report;
  }
  if (asked.empty()) return report;
  if (report.launches.size() > kMostRanges) {
    without_counters(report, {"the call launches " + std::to_string(report.launches.size()) +
                              " kernels; counters are read of at most " +
                              std::to_string(kMostRanges) + ": profile fewer steps of the work"});
    return report;
  }
  if (!*steady) {
    without_counters(report, {kChanging});
    return report;
  }
  auto failure = read_counters(turn, *plan, report);
  if (failure && !failure->permission) {
    plan = std::make_unique<CounterPlan>(cupti_, gpu_, Of::asked_for, asked);
    failure = read_counters(turn, *plan, report);
  }
  report.unknown_metrics.insert(report.unknown_metrics.end(), plan->unknown.begin(),
                                plan->unknown.end());
  if (failure) without_counters(report, *failure);
  return report;
}

Result<bool> Counters::observe_calls(const Turn& turn, CounterReport& report) {
  // The first call loads the kernels' code and is no measure of anything.
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
    return flush_.reset_persisting().has_value() && cudaDeviceSynchronize() == cudaSuccess;
  };
  const auto work = [&] {
    if (!flush_.queue_read(gpu_) || !gpu_.touch(turn.memory)) return false;
    turn.call();
    report.failure = gpu_.finish();
    return !report.failure;
  };
  const std::size_t expected = kOwnRanges + report.launches.size();
  RangeProfiler profiler(cupti_, gpu_);
  auto failure = profiler.profile(plan.names, plan.image, expected + kSpareRanges, before, work);
  if (report.failure) return std::nullopt;
  if (failure) return failure;
  if (const auto seen = profiler.ranges(); seen != expected)
    without_counters(
        report, {std::string(kChanging) + " (" + std::to_string(seen) + " ranges counted, " +
                 std::to_string(expected) + " expected; a launch of a CUDA graph counts as one)"});
  else if (!add_values(report, plan.host, profiler, plan.names))
    return ProfilerFailure{"the counters cannot be turned into metrics"};
  return std::nullopt;
}

}  // namespace ratchet::measure
