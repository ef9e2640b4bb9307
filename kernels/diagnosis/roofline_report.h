#pragma once

#include <optional>
#include <span>

#include "kernels/contract/work.h"
#include "server/facts/findings.h"
#include "server/facts/roofline_report.h"

namespace ratchet {

/// The inputs of a roofline report. Borrowed for the call.
struct RooflineInput {
  const Profile* profile = nullptr;
  std::span<const Ceiling> ceilings;
  std::optional<WorkDone> work;
  int multiprocessors = 0;
};

/// Bytes of every level and FLOPs of every type come from the counters of all kernels of a call,
/// rates from the time of the call, roofs from the measured ceilings. The roof of shared memory is
/// 128 bytes per multiprocessor and cycle at the clock of the run, which holds for sm_80 to sm_120.
/// Without counters, the declared work is used for DRAM and arithmetic.
///
/// `compatible` has the package's own figures. Pure; never fails.
[[nodiscard]] RooflineReport roofline_report(const RooflineInput& input);

/// Distributes three methods over three gaps by the package's rounding: gaps below 0.1 get none, at
/// most two per axis, leftovers to the larger gap, ties in the order memory, latency, compute. If
/// all gaps are small: one each.
[[nodiscard]] PackageBudget package_budget(double compute, double memory, double latency);

/// Below this headroom a kernel counts as at its roof.
inline constexpr double kStopHeadroom = 0.1;

/// The report as a log-log plot and as text.
[[nodiscard]] std::string roofline_svg(const RooflineReport& report);
[[nodiscard]] std::string roofline_text(const RooflineReport& report);

}  // namespace ratchet
