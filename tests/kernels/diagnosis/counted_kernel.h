#pragma once

// Diagnoses of a kernel of which only some metrics are given.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/diagnosis/diagnosis.h"

namespace ratchet::test {

inline constexpr const char* kComputes = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kMoves =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

inline std::string waiting(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

inline Diagnosis counted(std::map<std::string, double> metrics, double median_ns = 100'000) {
  const std::vector<KernelCounters> kernels{{"k", std::move(metrics)}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.device.multiprocessors = 132;
  input.timing.median = {median_ns};
  input.kernels = kernels;
  return diagnose(input);
}

/// Ids without their prefix, in order, joined by blanks.
inline std::string found(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& finding : diagnosis.findings)
    text += (text.empty() ? "" : " ") + finding.id.substr(8);
  return text;
}

inline std::string first(const Diagnosis& diagnosis) {
  const auto all = found(diagnosis);
  return all.substr(0, all.find(' '));
}

}  // namespace ratchet::test
