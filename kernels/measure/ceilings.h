#pragma once

#include <string>
#include <vector>

#include "kernels/measure/gpu.h"

namespace ratchet::measure {

struct CeilingValue {
  std::string what;
  double value = 0;
  std::string unit;  ///< B/s or FLOP/s
};

/// Measures what this device reaches: copy_bandwidth (bytes read plus bytes written),
/// read_bandwidth, write_bandwidth, l2_read_bandwidth, fp32. Medians of repeated runs, clocks as
/// they are. Takes about 0.2 s and up to 2 GiB of device memory.
Result<std::vector<CeilingValue>> measure_ceilings(Gpu& gpu);

}  // namespace ratchet::measure
