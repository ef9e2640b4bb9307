#pragma once

#include <cstdint>

#include "server/facts/environment.h"

namespace ratchet::worker {

/// Name, memory, cores and last-level cache of this machine, from /proc and /sys. The cores are
/// those this process may run on. What cannot be read is 0 or "unknown".
[[nodiscard]] DeviceInfo host_info();

/// Bytes of the largest cache that the first core sees. From sysfs: sysconf adds up the caches of
/// all sockets on some machines, which no core can use.
[[nodiscard]] std::int64_t last_level_cache_bytes();

/// Cores this process may run on.
[[nodiscard]] int usable_cores();

}  // namespace ratchet::worker
