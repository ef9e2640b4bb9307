#include "kernels/diagnosis/diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "kernels/diagnosis/diagnosis_metrics.h"
#include "kernels/diagnosis/diagnosis_patterns.h"

namespace ratchet {
namespace {

// The lead that decides between two roofs, in per cent; from the same rule as kNearLimit.
constexpr double kLead = 10;
// Below this theoretical occupancy, if warps wait, there are too few warps.
constexpr double kFewWarps = 25;

struct Class {
  Bound bound = Bound::unknown;
  std::string evidence;
  Confidence confidence = Confidence::medium;
};

std::string both(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : a + "; " + b;
}

/// The larger of two utilizations if it leads clearly, else mixed.
Bound leader(double compute, double memory) {
  if (compute - memory >= kLead) return Bound::compute;
  if (memory - compute >= kLead) return Bound::memory;
  return Bound::mixed;
}

Confidence confidence_of(double compute, double memory) {
  const double lead = std::abs(compute - memory);
  return lead >= 2 * kLead ? Confidence::high : Confidence::medium;
}

/// From fractions of the measured ceilings. A missing roof is no evidence.
Class bound_by_roofs(const Roofline& roofline, DeviceKind kind) {
  const auto memory = roofline.bandwidth_fraction;
  const auto compute = roofline.compute_fraction;
  if (!memory && !compute)
    return {Bound::unknown, "no counters, and no declared work", Confidence::low};
  std::string evidence;
  if (memory) evidence = shown("share of the bandwidth ceiling", *memory);
  if (compute) evidence = both(evidence, shown("share of the compute ceiling", *compute));
  const double m = memory.value_or(0), c = compute.value_or(0);
  const double busy = kind == DeviceKind::host ? kHostMemoryBound : kBusy / 100;
  if (m >= busy && m >= c)
    return {c >= kBusy / 100 && m < kNearLimit / 100 ? leader(100 * c, 100 * m) : Bound::memory,
            evidence, Confidence::medium};
  if (c >= kBusy / 100)
    return {m >= kBusy / 100 && c < kNearLimit / 100 ? leader(100 * c, 100 * m) : Bound::compute,
            evidence, Confidence::medium};
  if (!memory || !compute)
    return {Bound::unknown, evidence + "; the other roof is unknown", Confidence::low};
  return {Bound::latency, evidence, Confidence::low};
}

/// Neither roof is near: determines what else limits the device.
Class bound_by_shape(const DiagnosisInput& input, const Metrics& metrics, Class found) {
  const auto with = [&](Bound bound, const std::string& text) {
    return Class{bound, both(found.evidence, text), Confidence::high};
  };
  const auto stall = metrics.dominant_stall();
  if (stall && waits_everywhere(metrics, input.device.multiprocessors) &&
      metrics[metric::kWaves].value_or(1) < 0.5)
    return with(Bound::latency, shown("share of " + stall->first, stall->second));
  if (is_chain(metrics, input.device.multiprocessors))
    return with(Bound::latency, shown("share of wait", metrics.stall_share("wait")));
  if (metrics.small_grid(input.device.multiprocessors))
    return with(Bound::occupancy, shown(metric::kWaves, metrics[metric::kWaves].value_or(0)));
  const auto achieved = metrics[metric::kOccupancy];
  const auto theoretical = metrics[metric::kTheoretical];
  const auto limiter = metrics.occupancy_limiter();
  const bool limited = limiter && (*limiter == "registers" || *limiter == "shared_mem");
  if (theoretical && *theoretical <= kFewWarps && limited)
    return with(Bound::occupancy,
                both(shown(metric::kTheoretical, *theoretical), "limited by " + *limiter));
  // A grid smaller than one wave cannot reach the theoretical occupancy.
  const bool whole_wave = metrics[metric::kWaves].value_or(1) >= 1;
  if (achieved && theoretical && whole_wave && *achieved < *theoretical / 2)
    return with(Bound::occupancy, both(shown(metric::kOccupancy, *achieved),
                                       shown(metric::kTheoretical, *theoretical)));
  return {Bound::latency, found.evidence, Confidence::medium};
}

/// No pipe is as busy as that of loads and stores, and L1 is what they fill.
bool issues_mostly_accesses(const Metrics& metrics) {
  const double accesses =
      metrics["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"].value_or(0);
  constexpr std::array kOthers{"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
                               "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
                               "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
                               metric::kTensor};
  return metrics[metric::kL1].value_or(0) >= kBusy &&
         std::ranges::all_of(
             kOthers, [&](const char* name) { return metrics[name].value_or(0) < accesses; });
}

Class bound_by_counters(const DiagnosisInput& input, const Metrics& metrics, double compute,
                        double memory) {
  Class found;
  found.evidence = both(shown("SM throughput, %", compute), shown("memory throughput, %", memory));
  found.confidence = confidence_of(compute, memory);
  // Matrix instructions also read shared memory at its full rate: the tensor pipe decides.
  if (const auto tensor = metrics[metric::kTensor]; tensor && *tensor >= kNearLimit)
    return {Bound::compute, both(found.evidence, shown("tensor pipe, %", *tensor)),
            Confidence::high};
  if (reads_constants_in_turns(metrics))
    return {Bound::latency, both(found.evidence, "lanes read constants in turns"),
            Confidence::high};
  if (waits_for_copies(metrics) && memory < kBusy)
    return {Bound::latency, both(found.evidence, "warps wait for bulk copies"), Confidence::medium};
  if (metrics.small_grid(input.device.multiprocessors) && compute < kBusy && memory < kBusy)
    return bound_by_shape(input, metrics, found);
  // SMs without a block do not show what limits those that have one.
  const auto active = metrics.active_share();
  if (active && *active > 0.1 && *active < 0.85 && compute < kNearLimit && memory < kNearLimit) {
    compute = std::min(100.0, compute / *active);
    memory = std::min(100.0, memory / *active);
    found.evidence =
        both(found.evidence, shown("share of the time in which SMs had work", *active));
  }
  if (compute < kBusy && memory < kBusy) return bound_by_shape(input, metrics, found);
  found.bound = leader(compute, memory);
  // Loads and stores that fill L1 also count as work of the multiprocessor.
  if (found.bound == Bound::mixed && issues_mostly_accesses(metrics)) found.bound = Bound::memory;
  return found;
}

/// Of one kernel. A short call is mostly launch overhead, unless a unit was busy all the same.
Class bound_of(const DiagnosisInput& input, const Metrics& metrics) {
  const double median = input.timing.median.value;
  const auto compute = metrics[metric::kSm];
  const auto memory = metrics[metric::kMemory] ? metrics[metric::kMemory] : metrics[metric::kDram];
  const bool busy = compute.value_or(0) >= kBusy || memory.value_or(0) >= kBusy;
  if (median > 0 && median < kLaunchBoundNs && !busy)
    return {Bound::launch, shown("median_ns", median), Confidence::high};
  if (input.launches > 1 && !busy && is_mostly_launch(metrics))
    return {Bound::launch,
            shown("share of the time in which SMs had work", metrics.active_share().value_or(0)),
            Confidence::high};
  if (compute && memory) return bound_by_counters(input, metrics, *compute, *memory);
  return bound_by_roofs(input.roofline, input.kind);
}

double duration_of(const KernelCounters& kernel) {
  return Metrics(kernel.metrics).duration_ns();
}

/// On the host: a roof that is near, else the finding with the largest headroom.
Class bound_on_host(const DiagnosisInput& input, const Metrics& metrics,
                    std::span<const DiagnosisFinding> findings) {
  auto roofs = bound_by_roofs(input.roofline, input.kind);
  if (roofs.bound == Bound::memory || roofs.bound == Bound::compute || roofs.bound == Bound::mixed)
    return roofs;
  const auto found = host_class(metrics, findings);
  if (found.bound == Bound::unknown)
    return {Bound::unknown,
            both(roofs.evidence,
                 metrics["samples"] ? "no pattern explains the time" : "the call was not sampled"),
            Confidence::low};
  const auto first = std::ranges::find(findings, found.evidence, &DiagnosisFinding::id);
  if (first == findings.end()) return {found.bound, found.evidence, Confidence::medium};
  const bool disturbed = std::ranges::find(findings, "pattern-host-neighbors",
                                           &DiagnosisFinding::id) != findings.end();
  return {found.bound, first->title + ": " + first->evidence,
          disturbed ? Confidence::low : first->confidence};
}

/// A kernel and its share of the kernels' time.
struct Part {
  const KernelCounters* kernel;
  double share;
};

/// All kernels of a call, longest first. Kernels without a duration share equally.
std::vector<Part> parts_of(std::span<const KernelCounters> kernels) {
  double sum = 0;
  for (const auto& kernel : kernels) sum += duration_of(kernel);
  std::vector<Part> parts;
  for (const auto& kernel : kernels)
    parts.push_back(
        {&kernel, sum > 0 ? duration_of(kernel) / sum : 1.0 / static_cast<double>(kernels.size())});
  std::ranges::stable_sort(parts, std::greater{}, &Part::share);
  return parts;
}

/// The part of a call in which none of its kernels ran; empty if not all of them were counted.
std::optional<double> gaps_of_call(const DiagnosisInput& input) {
  const double median = input.timing.median.value;
  const bool all =
      input.launches > 1 && input.kernels.size() == static_cast<std::size_t>(input.launches);
  if (!all || median <= 0) return std::nullopt;
  double sum = 0;
  for (const auto& kernel : input.kernels) {
    if (duration_of(kernel) <= 0) return std::nullopt;
    sum += duration_of(kernel);
  }
  return std::clamp(1 - sum / median, 0.0, 1.0);
}

/// The class with the largest share of the kernels' time; mixed if none has most of it.
Class bound_of_call(const DiagnosisInput& input, std::span<const Part> parts) {
  constexpr double kGaps = 0.5;
  if (const auto gaps = gaps_of_call(input); gaps && *gaps >= kGaps)
    return {Bound::launch,
            shown("share of the call between its kernels", *gaps) +
                fmt::format("; {} kernels", input.launches),
            Confidence::high};
  std::map<Bound, double> shares;
  std::vector<Class> found;
  for (const auto& part : parts) {
    found.push_back(bound_of(input, Metrics(part.kernel->metrics)));
    shares[found.back().bound] += part.share;
  }
  const auto most =
      std::ranges::max_element(shares, {}, [](const auto& one) { return one.second; });
  constexpr double kMost = 0.6;
  auto first = std::ranges::find(found, most->first, &Class::bound);
  if (parts.size() > 1 && most->second < kMost) {
    std::string evidence;
    for (const auto& [bound, share] : shares)
      evidence = both(evidence, shown("share of " + std::string(name_of(bound)), share));
    return {Bound::mixed, evidence, Confidence::low};
  }
  return *first;
}

/// The findings of all kernels: of each pattern the one that promises most, its headroom a share of
/// the whole call.
void patterns_of_call(const DiagnosisInput& input, std::span<const Part> parts,
                      std::vector<DiagnosisFinding>& all) {
  for (const auto& part : parts) {
    Findings findings;
    cuda_patterns(input, Metrics(part.kernel->metrics), findings);
    for (auto& finding : std::move(findings).sorted()) {
      // What the call is short of is not a kernel's own.
      if (finding.id != "pattern-launch-bound") finding.headroom *= part.share;
      if (parts.size() > 1) finding.evidence += "; kernel " + part.kernel->name;
      const auto known = std::ranges::find(all, finding.id, &DiagnosisFinding::id);
      if (known == all.end())
        all.push_back(std::move(finding));
      else if (finding.headroom > known->headroom)
        *known = std::move(finding);
    }
  }
}

/// The part of the kernels' time in which those that are mostly launch leave the SMs idle.
double idle_in_launches(std::span<const Part> parts) {
  double idle = 0;
  for (const auto& part : parts) {
    const Metrics metrics(part.kernel->metrics);
    if (is_mostly_launch(metrics)) idle += part.share * (1 - metrics.active_share().value_or(1));
  }
  return idle;
}

/// What a call of several kernels loses between them and at their ends.
void launch_finding(const DiagnosisInput& input, std::span<const Part> parts,
                    std::vector<DiagnosisFinding>& all) {
  if (input.launches < 2 ||
      std::ranges::find(all, "pattern-launch-bound", &DiagnosisFinding::id) != all.end())
    return;
  constexpr double kWorthwhile = 0.15, kMostly = 0.5;
  const double gaps = gaps_of_call(input).value_or(0), idle = idle_in_launches(parts);
  Findings findings;
  if (idle >= kMostly && idle > gaps)
    findings.add("launch-bound",
                 "The call's kernels are so short that their launches take most of the time",
                 {shown("share of the kernels' time in which SMs had no work", idle),
                  shown("launches per call", input.launches)},
                 idle, idle / kMostly);
  else if (gaps >= kWorthwhile)
    findings.add("launch-bound", "Gaps between the kernels of the call",
                 {shown("share of the call between its kernels", gaps),
                  shown("launches per call", input.launches)},
                 gaps, gaps / kWorthwhile);
  for (auto& finding : std::move(findings).sorted()) all.push_back(std::move(finding));
}

Diagnosis diagnosed_on_gpu(const DiagnosisInput& input) {
  static const KernelCounters kNone;
  auto parts = parts_of(input.kernels);
  if (parts.empty()) parts.push_back({&kNone, 1});
  Diagnosis diagnosis;
  patterns_of_call(input, parts, diagnosis.findings);
  launch_finding(input, parts, diagnosis.findings);
  std::ranges::stable_sort(diagnosis.findings, std::greater{}, &DiagnosisFinding::headroom);
  auto found = bound_of_call(input, parts);
  diagnosis.bound = found.bound;
  diagnosis.confidence = found.confidence;
  diagnosis.bound_evidence = std::move(found.evidence);
  // What feeds scalar products is busy only because of them.
  const Metrics longest_metrics(parts.front().kernel->metrics);
  const bool fed =
      found.bound == Bound::mixed ||
      (found.bound == Bound::memory && longest_metrics[metric::kDram].value_or(100) < kBusy &&
       longest_metrics[metric::kL2].value_or(100) < kBusy);
  if (fed && parts.size() == 1 && !diagnosis.findings.empty() &&
      diagnosis.findings.front().id == "pattern-fma-without-tensor")
    diagnosis.bound = Bound::compute;
  const auto& longest = *parts.front().kernel;
  if (const auto stall = Metrics(longest.metrics).dominant_stall())
    diagnosis.bound_evidence +=
        fmt::format("; dominant stall {} ({:.0f} % of waiting)", stall->first, 100 * stall->second);
  if (parts.size() > 1)
    diagnosis.bound_evidence += fmt::format("; kernel {} ({:.0f} % of {} kernels)", longest.name,
                                            100 * parts.front().share, parts.size());
  return diagnosis;
}

Diagnosis diagnosed_on_host(const DiagnosisInput& input) {
  static const std::map<std::string, double> none;
  const Metrics metrics(input.kernels.empty() ? none : input.kernels.front().metrics);
  Findings findings;
  host_patterns(input, metrics, findings);
  Diagnosis diagnosis;
  diagnosis.findings = std::move(findings).sorted();
  auto found = bound_on_host(input, metrics, diagnosis.findings);
  diagnosis.bound = found.bound;
  diagnosis.bound_evidence = std::move(found.evidence);
  diagnosis.confidence = found.confidence;
  return diagnosis;
}

}  // namespace

Diagnosis diagnose(const DiagnosisInput& input) {
  auto diagnosis =
      input.kind == DeviceKind::cuda ? diagnosed_on_gpu(input) : diagnosed_on_host(input);
  diagnosis.bound_evidence +=
      fmt::format("; confidence {} (rules v{})", name_of(diagnosis.confidence), kDiagnosisRules);
  return diagnosis;
}

}  // namespace ratchet
