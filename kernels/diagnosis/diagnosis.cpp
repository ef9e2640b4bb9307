#include "kernels/diagnosis/diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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

Class bound_by_counters(const DiagnosisInput& input, const Metrics& metrics, double compute,
                        double memory) {
  Class found;
  found.evidence = both(shown("SM throughput, %", compute), shown("memory throughput, %", memory));
  found.confidence = confidence_of(compute, memory);
  // Matrix instructions also read shared memory at its full rate: the tensor pipe decides.
  if (const auto tensor = metrics[metric::kTensor]; tensor && *tensor >= kNearLimit)
    return {Bound::compute, both(found.evidence, shown("tensor pipe, %", *tensor)),
            Confidence::high};
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
  return found;
}

Class bound_of(const DiagnosisInput& input, const Metrics& metrics) {
  const double median = input.timing.median.value;
  if (input.kind == DeviceKind::cuda && median > 0 && median < kLaunchBoundNs)
    return {Bound::launch, shown("median_ns", median), Confidence::high};
  const auto compute = metrics[metric::kSm];
  const auto memory = metrics[metric::kMemory] ? metrics[metric::kMemory] : metrics[metric::kDram];
  if (compute && memory) return bound_by_counters(input, metrics, *compute, *memory);
  return bound_by_roofs(input.roofline, input.kind);
}

/// The kernel with the longest duration; without durations, the first.
const KernelCounters* main_kernel(std::span<const KernelCounters> kernels) {
  const KernelCounters* longest = nullptr;
  double most = -1;
  for (const auto& kernel : kernels) {
    const auto duration = kernel.metrics.find("gpu__time_duration.sum");
    const double time = duration == kernel.metrics.end() ? 0 : duration->second;
    if (time > most) {
      longest = &kernel;
      most = time;
    }
  }
  return longest;
}

}  // namespace

Diagnosis diagnose(const DiagnosisInput& input) {
  const auto* kernel = main_kernel(input.kernels);
  static const std::map<std::string, double> none;
  const Metrics metrics(kernel ? kernel->metrics : none);
  Findings findings;
  if (input.kind == DeviceKind::cuda)
    cuda_patterns(input, metrics, findings);
  else
    host_patterns(input, metrics, findings);
  auto found = bound_of(input, metrics);
  Diagnosis diagnosis{found.bound, std::move(found.evidence), found.confidence,
                      std::move(findings).sorted()};
  if (const auto stall = metrics.dominant_stall())
    diagnosis.bound_evidence +=
        fmt::format("; dominant stall {} ({:.0f} % of waiting)", stall->first, 100 * stall->second);
  if (kernel && input.kernels.size() > 1) {
    for (auto& finding : diagnosis.findings) finding.evidence += "; kernel " + kernel->name;
    diagnosis.bound_evidence += "; kernel " + kernel->name;
  }
  diagnosis.bound_evidence +=
      fmt::format("; confidence {} (rules v{})", name_of(diagnosis.confidence), kDiagnosisRules);
  return diagnosis;
}

}  // namespace ratchet
