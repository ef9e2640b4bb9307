#pragma once

#include <string>
#include <vector>

#include "server/facts/contract.h"
#include "server/facts/environment.h"

namespace ratchet::bench {

/// A kernel and a copy of it under another name, so that both are built, whose work can be
/// increased by a known share, so that the slowdown is known.
struct Subject {
  Contract contract;  ///< with the kernel that does the plain work
  Source other;       ///< the same answers with `percent` more work
};

/// "long" (on an H200 a row softmax of about 58 µs; on the host about 1 ms of work) and "short" (a
/// chain of multiply-adds of about 5 µs; on the host about 50 µs), which can do more work. Six
/// kinds that cannot: "streaming", "gemm", "histogram", "gather", "tick" (a few ticks of the
/// device's clock) and "branches" (that depend on the data).
[[nodiscard]] std::vector<std::string> subject_names();

/// `name`: one of those.
[[nodiscard]] Subject make_subject(const DeviceInfo& device, const std::string& name,
                                   double percent);

}  // namespace ratchet::bench
