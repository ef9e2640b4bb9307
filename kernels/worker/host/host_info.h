#pragma once

#include <cstdint>

#include "server/facts/environment.h"

namespace ratchet::worker {

/// Name, memory, cores and last-level cache of this machine, from /proc and /sys. Counts only cores
/// that this process may run on. Values that cannot be read are 0 or "unknown".
[[nodiscard]] DeviceInfo host_info();

/// Bytes of the largest cache of the first core. From sysfs, because on some machines sysconf adds
/// up the caches of all sockets, which no single core can use.
[[nodiscard]] std::int64_t last_level_cache_bytes();

/// Number of cores that this process may run on.
[[nodiscard]] int usable_cores();

}  // namespace ratchet::worker
