#pragma once

#include <map>
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

/// Whether a call reads clearly less from memory than the first call on new memory does, both after
/// the flush of a timed sample: something that earlier calls left in a cache has outlived the
/// flush. A kernel that needs only a part of its inputs reads that part in both; one that reads all
/// of them at least once, and some again, may do so more or less often. False where the device does
/// not count this. `input_bytes`: of all inputs, once.
[[nodiscard]] bool warm_when_timed(const std::map<std::string, double>& metrics,
                                   double input_bytes);
inline constexpr const char* kWarmWhenTimed = "warm_when_timed";

}  // namespace ratchet
