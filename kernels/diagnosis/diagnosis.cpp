#include "kernels/diagnosis/diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "kernels/diagnosis/coverage.h"
#include "kernels/diagnosis/diagnosis_metrics.h"
#include "kernels/diagnosis/diagnosis_patterns.h"

namespace ratchet {
namespace {

// A finding that saves less than this share of the call, or of what the first one saves, is not
// worth an attempt: it shows again, larger, when the first is done.
constexpr double kWorthwhile = 0.05;
constexpr double kBesideFirst = 0.2;
// More blocks help only where the work of one can be split, which no counter shows. So beside what
// the blocks that are there wait for, a small grid has to promise nearly as much.
constexpr double kGridBesideFirst = 0.6;

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

/// What is first where traffic takes the time.
bool is_traffic(std::string_view id) {
  constexpr std::array kTraffic{"pattern-uncoalesced-loads",  "pattern-partial-sector-stores",
                                "pattern-dram-bound-latency", "pattern-l1-bound",
                                "pattern-l2-bound",           "pattern-register-spills"};
  return std::ranges::find(kTraffic, id) != kTraffic.end();
}

/// What is first where warps are missing, or multiprocessors without work.
bool is_missing_warps(std::string_view id) {
  return id == "pattern-small-grid" || id == "pattern-low-achieved-occupancy" ||
         id == "pattern-tail-effect";
}

/// Neither roof is near: the finding that promises most tells what else limits the device.
Class bound_by_finding(const DiagnosisFinding* first, double compute, double memory,
                       const Class& found) {
  if (first == nullptr) return {Bound::latency, found.evidence, Confidence::medium};
  const auto evidence = both(found.evidence, first->title + ": " + first->evidence);
  // Not at its limit, but busier than all else with what is wasted.
  constexpr double kRather = 40;
  if (is_traffic(first->id) && memory >= kRather && memory - compute >= kLead)
    return {Bound::memory, evidence, Confidence::medium};
  return {is_missing_warps(first->id) ? Bound::occupancy : Bound::latency, evidence,
          first->confidence};
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

/// Memory throughput without what idle lanes do in shared memory: an instruction takes its turn
/// there for one lane as for 32, so that this part is work of the instructions, not traffic.
double traffic_of(const Metrics& metrics, double memory) {
  const auto lanes = metrics["smsp__thread_inst_executed_per_inst_executed.ratio"];
  const double l1 = metrics[metric::kL1].value_or(0);
  const double shared = metrics[kWavefronts].value_or(0);
  if (!lanes || l1 < memory || shared <= load_wavefronts(metrics)) return memory;
  const double conflicts = conflict_share(metrics);  // turns that no idle lane causes
  const double used = conflicts + (1 - conflicts) * std::clamp(*lanes / 32, 0.0, 1.0);
  return std::max(
      {l1 * used, metrics[metric::kL2].value_or(0), metrics[metric::kDram].value_or(0)});
}

Class bound_by_counters(const DiagnosisInput& input, const Metrics& metrics,
                        const DiagnosisFinding* first, double compute, double memory) {
  Class found;
  found.evidence = both(shown("SM throughput, %", compute), shown("memory throughput, %", memory));
  if (const double traffic = traffic_of(metrics, memory); traffic < memory) {
    found.evidence = both(found.evidence, shown("without idle lanes, %", traffic));
    memory = traffic;
  }
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
  // Where some work much longer than others, that is the limit, not what those are full of.
  const bool uneven = first != nullptr && first->id == "pattern-tail-effect";
  if ((uneven || metrics.small_grid(input.device.multiprocessors)) && compute < kBusy &&
      memory < kBusy)
    return bound_by_finding(first, compute, memory, found);
  // SMs without a block do not show what limits those that have one.
  const auto active = metrics.active_share();
  if (active && *active > 0.1 && *active < 0.85 && compute < kNearLimit && memory < kNearLimit) {
    compute = std::min(100.0, compute / *active);
    memory = std::min(100.0, memory / *active);
    found.evidence =
        both(found.evidence, shown("share of the time in which SMs had work", *active));
  }
  // Where each instruction waits for the one before, a unit that is rather busy is not the limit.
  const bool chained = first != nullptr && first->id == "pattern-dependency-chain" &&
                       compute < kNearLimit && memory < kNearLimit;
  if (chained || (compute < kBusy && memory < kBusy))
    return bound_by_finding(first, compute, memory, found);
  found.bound = leader(compute, memory);
  // Loads and stores that fill L1 also count as work of the multiprocessor.
  if (found.bound == Bound::mixed && issues_mostly_accesses(metrics)) found.bound = Bound::memory;
  return found;
}

/// Of one kernel. A short call is mostly launch overhead, unless a unit was busy all the same.
Class bound_of(const DiagnosisInput& input, const Metrics& metrics, const DiagnosisFinding* first) {
  const double median = input.timing.median.value;
  const auto compute = metrics[metric::kSm];
  const auto memory = metrics[metric::kMemory] ? metrics[metric::kMemory] : metrics[metric::kDram];
  const bool busy = compute.value_or(0) >= kBusy || memory.value_or(0) >= kBusy;
  if (median > 0 && median < kLaunchBoundNs && !busy)
    return compute || memory
               ? Class{Bound::launch, shown("median_ns", median), Confidence::high}
               : Class{Bound::launch, both(shown("median_ns", median), "no unit was counted"),
                       Confidence::low};
  if (input.launches > 1 && !busy && is_mostly_launch(metrics))
    return {Bound::launch,
            shown("share of the time in which SMs had work", metrics.active_share().value_or(0)),
            Confidence::high};
  if (compute && memory) return bound_by_counters(input, metrics, first, *compute, *memory);
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

/// A kernel, its share of the kernels' time, and its findings, largest headroom first.
struct Part {
  const KernelCounters* kernel;
  double share;
  std::vector<DiagnosisFinding> findings;

  [[nodiscard]] const DiagnosisFinding* first() const {
    return findings.empty() ? nullptr : &findings.front();
  }
};

/// The counted kernels of a call, longest first; if none was counted, all, which share equally
/// where they have no duration.
std::vector<Part> parts_of(std::span<const KernelCounters> kernels) {
  const bool any = std::ranges::any_of(kernels, is_counted);
  double sum = 0;
  std::vector<Part> parts;
  for (const auto& kernel : kernels) {
    if (any && !is_counted(kernel)) continue;
    sum += duration_of(kernel);
    parts.push_back({&kernel, 0, {}});
  }
  for (auto& part : parts)
    part.share =
        sum > 0 ? duration_of(*part.kernel) / sum : 1.0 / static_cast<double>(parts.size());
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

/// A call of which too little was counted: only a roof that is near says something about all of it.
Class bound_of_uncounted(const DiagnosisInput& input) {
  auto found = bound_by_roofs(input.roofline, input.kind);
  if (found.bound == Bound::latency) found.bound = Bound::unknown;
  if (found.bound == Bound::unknown) found.confidence = Confidence::low;
  return found;
}

/// Launch if that is the first of the call's findings, else the class with the largest share of the
/// kernels' time; mixed if none has most of it.
Class bound_of_call(const DiagnosisInput& input, std::span<const Part> parts,
                    std::span<const DiagnosisFinding> findings) {
  constexpr double kGaps = 0.5;
  if (const auto gaps = gaps_of_call(input); gaps && *gaps >= kGaps)
    return {Bound::launch,
            shown("share of the call between its kernels", *gaps) +
                fmt::format("; {} kernels", input.launches),
            Confidence::high};
  if (input.launches > 1 && !findings.empty() && findings[0].id == "pattern-launch-bound")
    return {Bound::launch, findings[0].evidence, findings[0].confidence};
  std::map<Bound, double> shares;
  std::vector<Class> found;
  for (const auto& part : parts) {
    found.push_back(bound_of(input, Metrics(part.kernel->metrics), part.first()));
    shares[found.back().bound] += part.share;
  }
  const auto most =
      std::ranges::max_element(shares, {}, [](const auto& one) { return one.second; });
  constexpr double kMost = 0.6;
  if (parts.size() > 1 && most->second < kMost) {
    std::string evidence;
    for (const auto& [bound, share] : shares)
      evidence = both(evidence, shown("share of " + std::string(name_of(bound)), share));
    return {Bound::mixed, evidence, Confidence::low};
  }
  return *std::ranges::find(found, most->first, &Class::bound);
}

/// The findings of all kernels. What several kernels have in common is as large as their sum, and
/// cites the one that promises most.
std::vector<DiagnosisFinding> findings_of(std::span<const Part> parts) {
  std::vector<DiagnosisFinding> all;
  std::map<std::string, double> most;
  for (const auto& part : parts)
    for (auto finding : part.findings) {
      // What the call is short of is not a kernel's own.
      const bool own = finding.id != "pattern-launch-bound";
      if (own) finding.headroom *= part.share;
      if (parts.size() > 1) finding.evidence += "; kernel " + part.kernel->name;
      const auto known = std::ranges::find(all, finding.id, &DiagnosisFinding::id);
      if (known == all.end()) {
        most[finding.id] = finding.headroom;
        all.push_back(std::move(finding));
      } else if (own) {
        const double sum = std::min(1.0, known->headroom + finding.headroom);
        if (finding.headroom > most[finding.id]) {
          most[finding.id] = finding.headroom;
          *known = std::move(finding);
        }
        known->headroom = sum;
      }
    }
  return all;
}

/// The part of the kernels' time in which SMs are idle because kernels begin and end.
double idle_in_launches(std::span<const Part> parts) {
  constexpr double kLaunch = 2500;  // ns that a kernel takes to begin and to end, at most
  double idle = 0;
  for (const auto& part : parts) {
    const Metrics metrics(part.kernel->metrics);
    const double time = metrics.duration_ns();
    if (time > 0)
      idle += part.share * std::min(1 - metrics.active_share().value_or(1), kLaunch / time);
  }
  return idle;
}

/// What a call of several kernels loses between them and at their ends. What the kernels could save
/// is a share of the rest.
void launch_finding(const DiagnosisInput& input, std::span<const Part> parts,
                    std::vector<DiagnosisFinding>& all) {
  auto launch = std::ranges::find(all, "pattern-launch-bound", &DiagnosisFinding::id);
  if (launch == all.end() && input.launches >= 2) {
    constexpr double kMuch = 0.15;
    const double gaps = gaps_of_call(input).value_or(0);
    const double lost = gaps + (1 - gaps) * idle_in_launches(parts);
    if (lost < kMuch) return;
    Findings findings;
    findings.add("launch-bound",
                 lost < 2 * gaps
                     ? "Gaps between the kernels of the call"
                     : "The call's kernels are so short that their launches take much of the time",
                 {shown("share of the call between its kernels", gaps),
                  shown("share of the call in which no SM has work", lost),
                  shown("launches per call", input.launches)},
                 lost, lost / kMuch);
    for (auto& finding : std::move(findings).sorted()) all.push_back(std::move(finding));
    launch = std::prev(all.end());
  }
  if (launch == all.end()) return;
  const double rest = 1 - launch->headroom;
  for (auto& finding : all)
    if (finding.id != "pattern-launch-bound") finding.headroom *= rest;
}

/// Drops what is not worth an attempt, from findings in order.
void drop_small(std::vector<DiagnosisFinding>& findings) {
  if (findings.empty()) return;
  const double first = findings.front().headroom;
  std::erase_if(findings, [&](const auto& finding) {
    const bool grid = finding.id == "pattern-small-grid";
    return finding.headroom <
           std::max(kWorthwhile, (grid ? kGridBesideFirst : kBesideFirst) * first);
  });
}

Diagnosis diagnosed_on_gpu(const DiagnosisInput& input) {
  static const KernelCounters kNone;
  auto parts = parts_of(input.kernels);
  if (parts.empty()) parts.push_back({&kNone, 1, {}});
  for (auto& part : parts) {
    Findings findings;
    cuda_patterns(input, Metrics(part.kernel->metrics), findings);
    part.findings = std::move(findings).sorted();
  }
  Diagnosis diagnosis;
  diagnosis.findings = findings_of(parts);
  launch_finding(input, parts, diagnosis.findings);
  const auto coverage = coverage_of(input);
  if (coverage)
    for (auto& finding : diagnosis.findings) {
      finding.headroom *= coverage->time;
      finding.confidence = std::min(finding.confidence, coverage->at_most());
      finding.evidence += "; " + coverage->text();
    }
  std::ranges::stable_sort(diagnosis.findings, std::greater{}, &DiagnosisFinding::headroom);
  drop_small(diagnosis.findings);
  auto found = coverage && !coverage->decides() ? bound_of_uncounted(input)
                                                : bound_of_call(input, parts, diagnosis.findings);
  if (coverage) {
    found.confidence = std::min(found.confidence, coverage->at_most());
    found.evidence = both(found.evidence, coverage->text());
  }
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
