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

/// Measures the rates this device reaches, at its current clocks. Values the chip lacks are
/// omitted:
///   copy_bandwidth           bytes read plus bytes written
///   cold_copy_64MiB, …       the same of so much in all, right after the caches were flushed
///   read_bandwidth, write_bandwidth
///   l2_read_bandwidth        data resident in L2
///   shared_memory_bandwidth  total of all multiprocessors
///   fp64, fp32, fp16_pairs, tf32, fp16, bf16, fp8, int8, bf16_of_zeros, …   see ceiling_code.h
///   sm_clock, sm_clock_bf16, …   MHz during fp32, and during each of these: shows when the
///                            figures no longer apply
///   launch_latency           median from the call to the end of an empty kernel, by the host clock
///   launch_interval          from one queued empty kernel to the next
/// Rates are the second best of repeated runs: a ceiling is what can be reached, but a single
/// lucky measurement does not count. Takes about a second and up to 2 GiB of device memory.
Result<std::vector<CeilingValue>> measure_ceilings(Gpu& gpu);

}  // namespace ratchet::measure
