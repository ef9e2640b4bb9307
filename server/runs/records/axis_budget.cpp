#include "server/runs/records/axis_budget.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet {
namespace {

using Metrics = std::map<std::string, double>;

const Metrics* longest_kernel(const Profile& profile) {
  const Metrics* longest = nullptr;
  double most = -1;
  for (const auto& kernel : profile.kernels) {
    const auto found = kernel.metrics.find("gpu__time_duration.sum");
    const double own = found == kernel.metrics.end() ? 0 : found->second;
    if (own > most) longest = &kernel.metrics;
    most = std::max(most, own);
  }
  return longest;
}

/// The largest of the metrics present (percentages), as a fraction.
void take_largest(std::optional<double>& use, const Metrics* metrics,
                  std::initializer_list<std::string_view> names) {
  if (metrics == nullptr) return;
  for (const auto name : names)
    if (const auto found = metrics->find(std::string(name)); found != metrics->end())
      use = std::max(use.value_or(0), found->second / 100);
}

void take(std::optional<double>& use, const std::optional<double>& fraction) {
  if (fraction) use = std::max(use.value_or(0), *fraction);
}

std::optional<double> gap(const std::optional<double>& use) {
  if (!use) return std::nullopt;
  return std::clamp(1 - *use, 0.0, 1.0);
}

/// The largest stall's share of all samples, issuing ones included.
std::optional<double> stall_share(const Metrics* metrics) {
  if (metrics == nullptr) return std::nullopt;
  constexpr std::string_view kPrefix = "smsp__average_warps_issue_stalled_";
  double all = 0;
  double largest = 0;
  for (const auto& [name, value] : *metrics) {
    if (!name.starts_with(kPrefix)) continue;
    all += value;
    const auto reason = std::string_view(name).substr(kPrefix.size());
    if (!reason.starts_with("selected") && !reason.starts_with("not_selected"))
      largest = std::max(largest, value);
  }
  if (all <= 0) return std::nullopt;
  return largest / all;
}

/// The axis that a pattern's treatment belongs to, for those without methods of the registry.
std::optional<Axis> axis_of_pattern(std::string_view id) {
  constexpr std::array<std::pair<std::string_view, Axis>, 12> kPatterns{
      {{"pattern-host-memory-bandwidth", Axis::memory},
       {"pattern-host-page-faults", Axis::memory},
       {"pattern-host-strided-access", Axis::memory},
       {"pattern-host-cache-miss", Axis::memory},
       {"pattern-host-scalar-loop", Axis::compute},
       {"pattern-host-math-calls", Axis::compute},
       {"pattern-host-interpreter", Axis::latency},
       {"pattern-host-single-thread", Axis::latency},
       {"pattern-host-imbalance", Axis::latency},
       {"pattern-host-thread-overhead", Axis::latency},
       {"pattern-host-dependency-chain", Axis::latency},
       {"pattern-host-atomics", Axis::latency}}};
  const auto found =
      std::ranges::find(kPatterns, id, [](const auto& pattern) { return pattern.first; });
  return found == kPatterns.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Axis> axis_of(const DiagnosisFinding& finding) {
  for (const auto& name : finding.methods)
    if (const auto* const method = find_method(name)) return method->axis;
  return axis_of_pattern(finding.id);
}

/// The version of the rules at the end of a diagnosis; 0 if it names none.
int rules_of(std::string_view evidence) {
  constexpr std::string_view kRules = "(rules v";
  const auto at = evidence.rfind(kRules);
  if (at == std::string_view::npos) return 0;
  int version = 0;
  std::from_chars(evidence.data() + at + kRules.size(), evidence.data() + evidence.size(), version);
  return version;
}

constexpr std::array kAxes{Axis::memory, Axis::latency,
                           Axis::compute};  // ties are broken in this order

int& slot(AxisBudget& budget, Axis axis) {
  if (axis == Axis::compute) return budget.compute;
  return axis == Axis::memory ? budget.memory : budget.latency;
}

}  // namespace

std::optional<double> AxisGaps::of(Axis axis) const {
  if (axis == Axis::compute) return compute;
  return axis == Axis::memory ? memory : latency;
}

int AxisBudget::of(Axis axis) const {
  if (axis == Axis::compute) return compute;
  return axis == Axis::memory ? memory : latency;
}

AxisGaps gaps_of(const Profile& profile) {
  const Metrics* const metrics = longest_kernel(profile);
  std::optional<double> compute;
  take(compute, profile.roofline.compute_fraction);
  take_largest(compute, metrics,
               {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
                "sm__throughput.avg.pct_of_peak_sustained_elapsed"});
  std::optional<double> memory;
  take(memory, profile.roofline.bandwidth_fraction);
  take_largest(memory, metrics, {"dram__throughput.avg.pct_of_peak_sustained_elapsed"});
  return {gap(compute), gap(memory), stall_share(metrics)};
}

AxisBudget budget_of(const AxisGaps& gaps, int methods, int cap) {
  AxisBudget budget;
  double sum = 0;
  for (const auto axis : kAxes)
    if (const auto gap = gaps.of(axis); gap && *gap >= kLeastGap) sum += *gap;
  if (sum <= 0) {
    for (const auto axis : kAxes)
      if (gaps.of(axis) && budget.total() < methods) slot(budget, axis) = 1;
    return budget;
  }
  // Largest remainder method: integer parts first, then one more to the largest fractions.
  struct Share {
    Axis axis;
    double left;
  };
  std::vector<Share> shares;
  for (const auto axis : kAxes) {
    const double gap = gaps.of(axis).value_or(0);
    if (gap < kLeastGap) continue;
    const double share = methods * gap / sum;
    slot(budget, axis) = std::min(cap, static_cast<int>(std::floor(share)));
    shares.push_back({axis, share - slot(budget, axis)});
  }
  while (budget.total() < methods) {
    const auto next = std::ranges::max_element(shares, {}, [&](const Share& share) {
      return budget.of(share.axis) < cap ? share.left : -1e9;
    });
    if (budget.of(next->axis) >= cap) break;
    ++slot(budget, next->axis);
    next->left -= 1;
  }
  return budget;
}

AxisGaps promise_of(const Profile& profile) {
  AxisGaps promise;
  const auto add = [&](Axis axis, double amount) {
    auto& slot = axis == Axis::compute  ? promise.compute
                 : axis == Axis::memory ? promise.memory
                                        : promise.latency;
    slot = slot.value_or(0) + amount;
  };
  const auto bound = profile.bound;
  if (bound == Bound::memory || bound == Bound::mixed) add(Axis::memory, 1);
  if (bound == Bound::compute || bound == Bound::mixed) add(Axis::compute, 1);
  if (bound == Bound::latency || bound == Bound::occupancy || bound == Bound::launch)
    add(Axis::latency, 1);
  for (const auto& finding : profile.findings)
    if (const auto axis = axis_of(finding)) add(*axis, finding.headroom);
  return promise;
}

AxisBudget budget_of(const Profile& profile, int methods, int cap) {
  const bool by_bound = rules_of(profile.bound_evidence) >= kBudgetByBound;
  const auto promise = by_bound ? promise_of(profile) : AxisGaps{};
  const bool named = promise.compute || promise.memory || promise.latency;
  return budget_of(named ? promise : gaps_of(profile), methods, cap);
}

std::optional<double> roof_fraction(const Roofline& roofline) {
  return roofline.binding == "compute" ? roofline.compute_fraction : roofline.bandwidth_fraction;
}

bool near_peak(const Profile& profile) {
  const auto fraction = roof_fraction(profile.roofline);
  return fraction && 1 - *fraction < kNearPeak;
}

}  // namespace ratchet
