#pragma once

#include <string>

#include "server/facts/contract.h"

namespace ratchet::worker {

/// Permanently forbids this process and its threads the system calls that a kernel does not need.
///
/// A deny list, because the needs of GPU drivers and OpenMP runtimes cannot be listed for every
/// version. A forbidden call ends the process with SIGSYS after a line on stderr that names it.
/// clone3 fails with ENOSYS, so that the C library falls back to clone, whose flags can be
/// filtered. On CUDA, sockets fail with an error instead of ending the process: the driver looks
/// for a daemon. `starts_programs`: compilers may be started; they inherit all other restrictions
/// and stay in the process group even if they request a new one. Returns an empty string on
/// success, else the reason. no_new_privs must be set before.
[[nodiscard]] std::string forbid_system_calls(DeviceKind kind, bool starts_programs = false);

}  // namespace ratchet::worker
