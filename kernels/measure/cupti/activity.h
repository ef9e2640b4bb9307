#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/measure/cupti/cupti.h"
#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// One kernel launch, as the device ran it.
struct Launch {
  std::string kernel;  ///< demangled, without return type and parameters
  double start_ns = 0;
  double end_ns = 0;
  std::array<int, 3> grid{};
  std::array<int, 3> block{};
  std::array<int, 3> cluster{};  ///< zeros without clusters
  int registers = 0;             ///< per thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t configured_shared_bytes = 0;  ///< per multiprocessor, as the driver split its L1
  std::int64_t stream = 0;
  std::uint32_t correlation = 0;  ///< increases in launch order
  bool in_graph = false;          ///< a node of a CUDA graph
};

struct Observed {
  std::vector<Launch> launches;        ///< in launch order
  std::optional<std::string> failure;  ///< the call's own failure
};

/// Records every kernel that a call launches, on all streams (CUPTI Activity; kernels stay
/// concurrent). Needs no privilege. One observation per process at a time.
Result<Observed> observe(Gpu& gpu, const Cupti& cupti, const Call& call);

/// "softmax<4>" for "_Z7softmaxILi4EEvPKfPf"; names that are not mangled are returned unchanged.
[[nodiscard]] std::string readable_kernel_name(const std::string& name);

}  // namespace ratchet::measure
