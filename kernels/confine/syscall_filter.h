#pragma once

#include "kernels/confine/landlock.h"
#include "kernels/confine/profile.h"

namespace ratchet::confine {

/// Permanently forbids all threads of this process, and what they start, the system calls that a
/// kernel does not need.
///
/// A deny list, because the needs of GPU drivers and OpenMP runtimes cannot be listed for every
/// version. A forbidden call ends the process with SIGSYS after a line on stderr that names it, and
/// the process cannot handle that signal itself. Exceptions, where honest programs try:
///   - clone3 and memfd_create fail with ENOSYS, so that the C library falls back to calls whose
///     arguments can be filtered, and to memory that is counted (memfd_create on the processor
///     only)
///   - on CUDA sockets fail with EPERM: the driver looks for a daemon
///   - processes that start programs may do so; leaving their group or session and changing modes,
///     owners and times report success and do nothing, and signals and sockets fail with EPERM
///   - calls that set the priority or processors of others report success and do nothing
/// no_new_privs must be set before.
[[nodiscard]] Outcome forbid_system_calls(const Profile& profile, DeviceKind kind);

/// Whether every thread is under a filter, cannot gain privileges and, unless the walls came after
/// the device's own threads, has no capability but `profile.capabilities`. Else the text tells
/// which not.
[[nodiscard]] Outcome all_threads_covered(const Profile& profile);

}  // namespace ratchet::confine
