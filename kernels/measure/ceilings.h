#pragma once

#include <string>
#include <vector>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

struct CeilingValue {
  std::string what;
  double value = 0;
  std::string unit;  ///< B/s, FLOP/s, OP/s, MHz or s
};

/// Measures what this device reaches, clocks as they are; what the chip lacks is left out:
///   copy_bandwidth           bytes read plus bytes written
///   read_bandwidth, write_bandwidth
///   l2_read_bandwidth        data that stays in L2
///   shared_memory_bandwidth  of all multiprocessors
///   fp64, fp32, tf32, fp16, bf16, fp8, int8   see ceiling_code.h
///   sm_clock                 during fp32, MHz: to tell when these figures no longer hold
///   launch_latency           median from the call to the end of an empty kernel, host's clock
///   launch_interval          from one empty kernel to the next in a queue
/// Rates are the second best of repeated runs: a roof is what can be reached, and one lucky stamp
/// does not count. Takes about a second and up to 2 GiB of device memory.
Result<std::vector<CeilingValue>> measure_ceilings(Gpu& gpu);

}  // namespace ratchet::measure
