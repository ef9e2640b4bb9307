#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server/core/call_context.h"
#include "server/facts/environment.h"

namespace ratchet {

/// Other processes on a device. Contention is reported with the times, never prevented.
struct DeviceContention {
  std::vector<std::string> processes;  ///< "pid 4711 python3"; of the host: "3 runnable threads"
  std::string source;                  ///< where this comes from, or why it is unknown
};

/// GPU: `nvidia-smi --query-compute-apps`, which sees only processes of this machine or container,
/// less those of this server, which keeps some between jobs. Where the driver tells a container the
/// machine's process numbers, a kept one is taken for a stranger's. Host: the number of threads
/// that /proc/stat counts as runnable besides this one, reported if there are at least as many as
/// cores; call while nothing of ours runs.
///
/// Thread-safe. Failing to find out is no error: `source` says why.
[[nodiscard]] DeviceContention device_contention(const DeviceInfo& device, const CallContext& call);

/// The processes of `uuid` in nvidia-smi's "uuid, pid, process_name" lines, less our `own`. Pure.
[[nodiscard]] std::vector<std::string> parse_compute_apps(const std::string& csv,
                                                          const std::string& uuid,
                                                          const std::vector<pid_t>& own);

/// "other processes: none (nvidia-smi)".
[[nodiscard]] std::string described(const DeviceContention& contention);

}  // namespace ratchet
