#pragma once

#include <string>

#include "server/facts/contract.h"

namespace ratchet::bench {

/// A kernel whose work can be increased by a known share, so that the slowdown is known.
struct Subject {
  Contract contract;  ///< with the kernel that does the plain work
  Source slowed;      ///< the same answers with `percent` more work
};

/// `name`: "long" (a row softmax of about 58 µs on an H200; about 1 ms of work on the host) or
/// "short" (a chain of multiply-adds of about 5 µs; on the host about 50 µs).
[[nodiscard]] Subject make_subject(DeviceKind kind, const std::string& name, double percent);

}  // namespace ratchet::bench
