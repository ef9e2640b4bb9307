#pragma once

#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Measures what this machine can do with all usable cores at once, the best of several rounds
/// (a roof is what can be reached, not what is usual):
///   copy_bandwidth   memcpy between arrays of four last-level caches; bytes read plus written
///   read_bandwidth, write_bandwidth
///   l2_bandwidth     reads of a quarter of the last-level cache, again and again
///   fp32, fp64       fused multiply-adds in registers
/// Takes about two seconds. Errors: `unavailable` when the arrays cannot be had.
[[nodiscard]] Result<std::vector<wire::CeilingValue>> measure_host_ceilings();

}  // namespace ratchet::worker
