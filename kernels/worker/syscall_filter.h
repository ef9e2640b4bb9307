#pragma once

#include <string>

#include "server/facts/contract.h"

namespace ratchet::worker {

/// Forbids this process and its threads, for good, the system calls that a kernel has no use for.
///
/// A deny list: what a GPU driver or an OpenMP runtime may need cannot be listed for every version.
/// A forbidden call ends the process with SIGSYS after a line on stderr that names it. clone3 does
/// not exist for the process, so that the C library falls back to clone, whose flags can be seen.
/// On CUDA sockets are refused instead of fatal: the driver looks for a daemon.
/// `starts_programs`: compilers may be started; they inherit all the rest, and stay in the process
/// group whatever they ask for.
/// Returns why not when the system refuses; empty when it is on. no_new_privs must be set before.
[[nodiscard]] std::string forbid_system_calls(DeviceKind kind, bool starts_programs = false);

}  // namespace ratchet::worker
