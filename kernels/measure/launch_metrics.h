#pragma once

#include <map>
#include <string>

#include "kernels/measure/cupti/activity.h"

namespace ratchet::measure {

/// The metrics that ncu derives from a launch without counters, by ncu's names: launch__grid_size,
/// launch__registers_per_thread, launch__occupancy_limit_registers,
/// launch__waves_per_multiprocessor, sm__maximum_warps_per_active_cycle_pct, …
/// Occupancy comes from the toolkit's own calculator; its metrics are omitted for chips that the
/// calculator does not know.
[[nodiscard]] std::map<std::string, double> launch_metrics(const Launch& launch,
                                                           const cudaDeviceProp& device);

}  // namespace ratchet::measure
