#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"

namespace ratchet {

/// Version of the rules below; `bound_evidence` ends with it. Raise it with every change of a rule.
inline constexpr int kDiagnosisRules = 2;

/// Share of the copy ceiling from which a host kernel is called memory-bound. Its stores read the
/// lines they write first, which the declared bytes do not count: c = a + b moves a third more.
inline constexpr double kHostMemoryBound = 0.45;

/// Everything the rules may look at. Borrowed for the call.
struct DiagnosisInput {
  DeviceKind kind = DeviceKind::host;
  DeviceInfo device;
  Timing timing;
  Roofline roofline;
  std::span<const KernelCounters> kernels;  ///< empty when there are no counters
  std::optional<BuildRecord> build;
  std::vector<DType> dtypes;  ///< of the contract's tensors
  int launches = 0;           ///< kernel launches per call; 0 unknown
};

/// What limits a kernel, and what to look into, largest headroom first.
struct Diagnosis {
  Bound bound = Bound::unknown;
  std::string bound_evidence;  ///< metric names and values, dominant stall, version of the rules
  Confidence confidence = Confidence::low;
  std::vector<DiagnosisFinding> findings;
};

/// Numeric rules over counters, roofline and build facts.
///
/// Bound class (CUDA): launch below 10 µs; compute where the tensor pipe is at 80 % or more; C =
/// sm__throughput, M = gpu__compute_memory_throughput (dram when absent), both over the time in
/// which SMs had work: with either at 60 % or more a difference of 10 points decides, else mixed;
/// with both below: a small grid, few warps for want of registers or shared memory, or half of them
/// missing → occupancy, else latency. Without those counters, and on the host: the roofline's
/// fractions of the measured ceilings. Each finding cites the numbers it used; a rule whose metric
/// is missing says nothing. Several kernels are judged by the one with the longest duration, and
/// the evidence names it.
/// Pure and thread-safe; never fails.
[[nodiscard]] Diagnosis diagnose(const DiagnosisInput& input);

}  // namespace ratchet
