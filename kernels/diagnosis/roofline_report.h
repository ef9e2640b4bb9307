#pragma once

#include <optional>
#include <span>

#include "kernels/contract/work.h"
#include "server/facts/findings.h"
#include "server/facts/roofline_report.h"

namespace ratchet {

/// Everything a roofline report is drawn from. Borrowed for the call.
struct RooflineInput {
  const Profile* profile = nullptr;
  std::span<const Ceiling> ceilings;
  std::optional<WorkDone> work;
  int multiprocessors = 0;
};

/// Bytes of every level and FLOPs of every type come from the counters of all kernels of a call,
/// rates from the time of the call, roofs from the measured ceilings; the roof of shared memory is
/// 128 bytes per multiprocessor and cycle at the clock of the run, which all of sm_80 to sm_120
/// have. Without counters the declared work stands in for DRAM and arithmetic.
///
/// `compatible` has the package's own figures. Pure; never fails.
[[nodiscard]] RooflineReport roofline_report(const RooflineInput& input);

/// Three methods over three gaps, by the package's rounding: gaps below 0.1 get nothing, at most
/// two an axis, leftovers to the larger gap, ties to memory, latency, compute. All gaps small: one
/// each.
[[nodiscard]] PackageBudget package_budget(double compute, double memory, double latency);

/// Below this headroom a kernel is at its roof.
inline constexpr double kStopHeadroom = 0.1;

/// The report as a drawing (log-log) and as text.
[[nodiscard]] std::string roofline_svg(const RooflineReport& report);
[[nodiscard]] std::string roofline_text(const RooflineReport& report);

}  // namespace ratchet
