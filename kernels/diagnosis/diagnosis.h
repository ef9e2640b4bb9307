#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"

namespace ratchet {

/// Version of the rules below; `bound_evidence` ends with it. Increase it with every rule change.
inline constexpr int kDiagnosisRules = 14;

/// Share of the copy ceiling above which a host kernel is called memory-bound. Host stores first
/// read the lines they write, which the declared bytes do not count: c = a + b moves a third more.
inline constexpr double kHostMemoryBound = 0.45;

/// One launch of a call, observed without counters.
struct LaunchTime {
  std::string kernel;
  double blocks = 0;
  double ns = 0;
};

/// The inputs of the rules. Borrowed for the call.
struct DiagnosisInput {
  DeviceKind kind = DeviceKind::host;
  DeviceInfo device;
  Timing timing;
  Roofline roofline;
  std::span<const KernelCounters> kernels;  ///< empty if there are no counters
  std::optional<BuildRecord> build;
  std::vector<DType> dtypes;             ///< of the contract's tensors
  int launches = 0;                      ///< kernel launches per call; 0 unknown
  std::span<const LaunchTime> launched;  ///< empty: unknown, or counted as one
};

/// What limits a kernel, and what to investigate, largest headroom first.
struct Diagnosis {
  Bound bound = Bound::unknown;
  std::string bound_evidence;  ///< metric names and values, dominant stall, version of the rules
  Confidence confidence = Confidence::low;
  std::vector<DiagnosisFinding> findings;
};

/// Numeric rules over counters, roofline and build facts.
///
/// Bound class (CUDA): launch if the kernels fill less than half of the call, if launches are the
/// first finding of several, or below 10 µs if no unit is at 60 %; compute if the tensor pipe is at
/// 80 % or more. With C = sm__throughput and M = gpu__compute_memory_throughput (dram if absent),
/// both over the time in which SMs had work, and M without what idle lanes do in shared memory:
/// latency if the SMs only ask for the end of small bulk copies; if either is at 60 % or more, a
/// difference of 10 points decides, else mixed, or memory where loads and stores have the busiest
/// pipe. If both are below, the kernel's first finding decides: missing blocks or warps, or uneven
/// blocks → occupancy; traffic where M is at 40 % and leads → memory; else latency. Findings that
/// save less than 5 % of the call, or less than a fifth of what the first one saves, are not
/// listed. Without those counters: the roofline's fractions of the measured ceilings. On the host:
/// a roof that is near, else the class of the finding with the largest headroom that is not of low
/// confidence; occupancy because one thread works only where none says what limits that thread,
/// however many cores are idle. Each finding cites
/// the numbers it used; a rule whose metric is missing reports nothing. With several kernels, each
/// is judged, and its share of their time is its weight: the class with 60 % of it, else mixed;
/// findings name their kernel. Where some kernels could not be counted, class and findings say what
/// they rest on, with less confidence; and below half of the time only the roofline names a class.
/// Pure and thread-safe; never fails.
[[nodiscard]] Diagnosis diagnose(const DiagnosisInput& input);

}  // namespace ratchet
