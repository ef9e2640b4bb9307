#pragma once

#include <string>
#include <vector>

#include "server/core/call_context.h"
#include "server/facts/environment.h"

namespace ratchet {

/// Who else uses a device. Times taken beside a neighbour are reported as such; nothing is done
/// about him.
struct DeviceContention {
  std::vector<std::string> processes;  ///< "pid 4711 python3"; of the host: "3 runnable threads"
  std::string source;                  ///< where this comes from, or why it is not known
};

/// Asks before our own workers start. A GPU: `nvidia-smi --query-compute-apps` (it sees processes
/// of this machine or container only). The host: how many threads /proc/stat counts as runnable
/// beside this one, named when they are as many as there are cores.
///
/// Thread-safe. No answer is no error: `source` says why.
[[nodiscard]] DeviceContention device_contention(const DeviceInfo& device, const CallContext& call);

/// The lines of nvidia-smi's "uuid, pid, process_name" that concern `uuid`. Pure.
[[nodiscard]] std::vector<std::string> parse_compute_apps(const std::string& csv,
                                                          const std::string& uuid);

/// "neighbours: none (nvidia-smi)".
[[nodiscard]] std::string described(const DeviceContention& neighbours);

}  // namespace ratchet
