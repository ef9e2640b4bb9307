#pragma once

#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Measures the best rates of this machine with all usable cores at once: the best of several
/// rounds, since a ceiling is what can be reached, not what is typical.
///   copy_bandwidth   memcpy between arrays of four times the last-level cache; bytes read plus
///                    bytes written
///   read_bandwidth, write_bandwidth
///   core_copy_bandwidth  the same with one core
///   l2_bandwidth     repeated reads of a quarter of the last-level cache
///   l1_bandwidth     repeated reads of 16 kB per core
///   fp32, fp64       fused multiply-adds in registers
/// Takes about two seconds. Errors: `unavailable` when the arrays cannot be allocated.
[[nodiscard]] Result<std::vector<wire::CeilingValue>> measure_host_ceilings();

/// Leaves out rates that contradict the others: reading must not be slower than copying, one core
/// not faster than all, and no level slower than the next. Pure.
[[nodiscard]] std::vector<wire::CeilingValue> plausible_ceilings(
    std::vector<wire::CeilingValue> values);

}  // namespace ratchet::worker
