#pragma once

#include <string>
#include <vector>

#include "server/facts/contract.h"
#include "server/facts/profile.h"

namespace ratchet {

// Which counters belong to which set. CUDA names are those of Nsight Compute; the worker resolves
// them per chip and lists the unknown ones. Host names are perf event names.

/// lean (3 passes on GH100: position and pipes), overview (adds throughputs), full (the 41 metrics
/// of the kernel-profile package, duration, L1/L2 throughput, all stall reasons), stalls (reasons
/// only). Order is stable; no name twice.
[[nodiscard]] std::vector<std::string> metric_names(MetricSet set, DeviceKind kind);

/// Names that a caller gave, with duration and launch facts, which every profile has.
[[nodiscard]] std::vector<std::string> with_launch_facts(const std::vector<std::string>& names,
                                                         DeviceKind kind);

/// The category of kernel-profile's tables that a metric stands in: Speed of Light, Memory,
/// Compute, Occupancy, Launch, Scheduler, Stalls, Branch, Extra.
[[nodiscard]] std::string metric_category(const std::string& name);

}  // namespace ratchet
