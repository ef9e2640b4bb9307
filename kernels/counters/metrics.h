#pragma once

#include <string>
#include <vector>

#include "server/facts/contract.h"
#include "server/facts/profile.h"

namespace ratchet {

// Metric names by set. CUDA names are those of Nsight Compute; the worker resolves them per chip
// and reports unknown ones. Host names are perf event names.

/// lean (3 passes on GH100: position and pipes), overview (adds throughputs), full (the 41 metrics
/// of the kernel-profile package, duration, L1/L2 throughput, all stall reasons), stalls (reasons
/// only). Order is stable; no name twice.
[[nodiscard]] std::vector<std::string> metric_names(MetricSet set, DeviceKind kind);

/// The given names plus duration and launch facts, which every profile includes.
[[nodiscard]] std::vector<std::string> with_launch_facts(const std::vector<std::string>& names,
                                                         DeviceKind kind);

}  // namespace ratchet
